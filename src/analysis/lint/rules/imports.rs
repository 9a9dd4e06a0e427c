//! What is to be known of a configuration file of another product that was imported.

use crate::analysis::lint::rule::{Check, Example, Rule};
use crate::import::{Format, Sort};
use crate::scenario::Severity;

pub static SURPRISE: Rule = Rule {
    id: Sort::Surprise.id(),
    severity: Severity::Warning,
    finds: "A setting of an imported file does something else than one would think.",
    why: "Products count differently, ignore settings that stand without others, and have limits that their files do not \
          tell. What was meant and what happens in an outage are two things then.",
    instead: "write what you mean, or see that what happens is what you want",
    example: Example {
        bad: r#"
{
  "methodConfig": [{
    "name": [{ "service": "shop.v1.Orders" }],
    "timeout": "5s",
    "retryPolicy": {
      "maxAttempts": 9,
      "initialBackoff": "0.2s",
      "maxBackoff": "2s",
      "backoffMultiplier": 2,
      "retryableStatusCodes": ["UNAVAILABLE"]
    }
  }],
  "retryThrottling": { "maxTokens": 10, "tokenRatio": 0.1 }
}
"#,
        good: &[],
    },
    check: Check::Import(Format::Grpc),
};

pub static LEFT_OUT: Rule = Rule {
    id: Sort::LeftOut.id(),
    severity: Severity::Warning,
    finds: "A setting of an imported file cannot be said in a scenario.",
    why: "What is simulated goes without it. The other findings, and every figure of a run, hold for a system that does not \
          have this setting.",
    instead: "bear in mind that it is missing when you read figures",
    example: Example {
        bad: r#"
{
  "methodConfig": [{
    "name": [{ "service": "shop.v1.Orders" }],
    "timeout": "5s",
    "waitForReady": true
  }]
}
"#,
        good: &[],
    },
    check: Check::Import(Format::Grpc),
};

pub static UNKNOWN: Rule = Rule {
    id: Sort::Unknown.id(),
    severity: Severity::Warning,
    finds: "An imported file has a setting that is not known.",
    why: "It is misspelt, which many products say nothing of, or newer than this program. Either way what it should do is \
          not simulated, and may well not happen.",
    instead: "compare its name with the reference of the product",
    example: Example {
        bad: r#"
{
  "methodConfig": [{
    "name": [{ "service": "shop.v1.Orders" }],
    "timeOut": "5s"
  }]
}
"#,
        good: &[],
    },
    check: Check::Import(Format::Grpc),
};
