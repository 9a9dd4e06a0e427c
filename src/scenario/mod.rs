//! stub
use crate::plan::Plan; use crate::time::Span; use crate::experiment::Expectation;
#[derive(Debug)] pub struct Scenario { pub name: String, pub seed: u64, pub replicas: u32, pub bucket: Span, pub sha256: String, pub expectations: Vec<Expectation>, pub v: Vec<(String, Plan)> }
impl Scenario { pub fn variants(&self)->&[(String,Plan)]{&self.v} }
