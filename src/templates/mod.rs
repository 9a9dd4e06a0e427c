//! Scenarios to start from: for each of the usual cases a policy that holds, the usual mistakes beside it, and
//! expectations that tell them apart.
//!
//! A template is a file of its own. Its variant [`GOOD`] is the file as it stands, and all of its expectations are about
//! that; every other variant is a mistake, and would miss at least one of them.

use thiserror::Error;

use crate::scenario::suggest;

/// The variant of every template that is as it should be.
pub const GOOD: &str = "good";

/// A scenario to start from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Template {
    /// Its name, which is also that of the scenario.
    pub name: &'static str,
    /// What it is for, in a line.
    pub about: &'static str,
    /// The scenario file.
    pub text: &'static str,
}

/// All of them, the most usual first.
pub const TEMPLATES: [Template; 5] = [
    Template {
        name: "user-path",
        about: "users that wait: three services, one deadline, one retry",
        text: include_str!("user-path.toml"),
    },
    Template {
        name: "background-jobs",
        about: "jobs from a queue: workers, long waits, dead letters",
        text: include_str!("background-jobs.toml"),
    },
    Template {
        name: "third-party",
        about: "somebody else's api: a rate limit, `Retry-After`, a breaker",
        text: include_str!("third-party.toml"),
    },
    Template {
        name: "payments",
        about: "writes that must not be done twice: keys, lost answers",
        text: include_str!("payments.toml"),
    },
    Template {
        name: "fan-out",
        about: "a page of many shards: enough of the answers, capped hedges",
        text: include_str!("fan-out.toml"),
    },
];

impl Template {
    /// The template with this name.
    ///
    /// # Errors
    ///
    /// When there is none.
    pub fn find(name: &str) -> Result<&'static Self, UnknownTemplate> {
        // Whoever writes the name of the file means the template.
        let wanted = name.strip_suffix(".toml").unwrap_or(name);
        TEMPLATES.iter().find(|template| template.name == wanted).ok_or_else(|| UnknownTemplate::new(name))
    }

    /// What its file is called where nobody says otherwise.
    pub fn file_name(&self) -> String {
        format!("{}.toml", self.name)
    }
}

/// There is no template with this name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("there is no template `{name}`{nearest}\nhelp: templates: {all}")]
pub struct UnknownTemplate {
    name: String,
    /// The one that may have been meant, as the end of a sentence.
    nearest: String,
    all: String,
}

impl UnknownTemplate {
    fn new(name: &str) -> Self {
        let names = || TEMPLATES.iter().map(|template| template.name);
        // The file that a template is written to may be named in its place.
        let nearest = suggest::nearest(name.strip_suffix(".toml").unwrap_or(name), names());
        Self {
            name: name.to_owned(),
            nearest: nearest.map_or_else(String::new, |nearest| format!("; did you mean `{nearest}`?")),
            all: suggest::list(names()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_none_is_answered_with_the_nearest_and_all() {
        let all = "\nhelp: templates: `user-path`, `background-jobs`, `third-party`, `payments`, `fan-out`";
        let told = |name| Template::find(name).unwrap_err().to_string();
        assert_eq!(told("payment"), format!("there is no template `payment`; did you mean `payments`?{all}"));
        assert_eq!(told("Fan-Out"), format!("there is no template `Fan-Out`; did you mean `fan-out`?{all}"));
        assert_eq!(Template::find("user-path.toml").unwrap().name, "user-path", "the name of its file will do");
        assert_eq!(told("queue"), format!("there is no template `queue`{all}"), "nothing is near");
    }
}
