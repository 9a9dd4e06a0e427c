//! Instances of a module, with the configurations beneath them.

use crate::import::draft::{Block, Draft};
use crate::import::section::{Field, Keys, Section};
use crate::import::tree::Value;

/// The configuration beneath all instances that name no other.
const DEFAULT: &str = "default";

/// A module: its instances and configurations by name.
pub struct Module<'t> {
    pub instances: Vec<Field<'t>>,
    configs: Vec<Field<'t>>,
    /// Whether what has a name of its own stands on nothing else than what it names.
    configs_of_their_own: bool,
}

/// An instance and the configurations beneath it, the nearest first.
pub struct Layers<'t> {
    /// The instance.
    pub own: Field<'t>,
    layers: Vec<Section<'t>>,
}

impl<'t> Module<'t> {
    /// The module at a key; without instances if there is none.
    pub fn of(root: &mut Section<'t>, key: &str, draft: &mut Draft) -> Self {
        let mut module = Self { instances: Vec::new(), configs: Vec::new(), configs_of_their_own: false };
        let Some(mut section) = draft.table(root, key) else { return module };
        // An older name of the same.
        for key in ["instances", "backends"] {
            if let Some(mut instances) = draft.table(&mut section, key) {
                module.instances.extend(instances.all());
            }
        }
        if let Some(mut configs) = draft.table(&mut section, "configs") {
            module.configs = configs.all();
        }
        // The order of aspects can be said here, and metrics.
        for key in ["retryAspectOrder", "circuitBreakerAspectOrder", "bulkheadAspectOrder", "rateLimiterAspectOrder"] {
            if let Some(field) = section.field(key) {
                let why = "the retries are outside of everything else, as without it";
                draft.aside(&field.place(), format!("`{}` is not in the scenario: {why}", field.path));
            }
        }
        if let Some(field) = section.field("timeLimiterAspectOrder") {
            let why = "a time limit is for one attempt, as without it";
            draft.aside(&field.place(), format!("`{}` is not in the scenario: {why}", field.path));
        }
        section.skip(&["metrics", "tags"]);
        draft.unknown(None, &section);
        module
    }

    /// A configuration lies on another only if it names it, and an instance on that of its own name, if there is one:
    /// so it is with circuit breakers.
    pub fn with_configs_of_their_own(self) -> Self {
        Self { configs_of_their_own: true, ..self }
    }

    fn config(&self, name: &str) -> Option<&Field<'t>> {
        self.configs.iter().find(|config| config.name == name)
    }

    /// The instance of that name with what lies beneath it.
    pub fn instance(&self, name: &str, draft: &mut Draft) -> Option<Layers<'t>> {
        let own = self.instances.iter().find(|instance| instance.name == name)?;
        let mut layers = Layers { own: own.clone(), layers: Vec::new() };
        let mut seen = Vec::new();
        let mut next = Some((own, false));
        while let Some((field, is_config)) = next {
            let Some(mut section) = draft.table_of(field, Keys::Loose) else { break };
            let base = section.field("baseConfig");
            layers.layers.push(section);
            next = match base {
                Some(base) => {
                    let Some(name) = draft.text(&base) else { break };
                    let Some(config) = self.config(name) else {
                        let hint = "Resilience4j does not start with it: name one of `configs`";
                        draft.wrong(&base.node.place, format!("`configs` has no `{name}`"), hint);
                        break;
                    };
                    if seen.contains(&name) {
                        let message = format!("`{name}` lies beneath itself");
                        draft.wrong(&base.node.place, message, "take this `baseConfig` out");
                        break;
                    }
                    seen.push(name);
                    Some(config)
                }
                None if self.configs_of_their_own && is_config => None,
                None => {
                    let of_its_name = self.config(field.name).filter(|_| self.configs_of_their_own);
                    let is_default = is_config && field.name == DEFAULT;
                    of_its_name.or_else(|| self.config(DEFAULT).filter(|_| !is_default))
                }
            }
            .map(|config| (config, true));
        }
        Some(layers)
    }
}

impl<'t> Layers<'t> {
    /// What the instance has at a key, or what is nearest beneath it.
    pub fn field(&mut self, key: &str) -> Option<Field<'t>> {
        self.with_level(key).map(|(_, field)| field)
    }

    /// The same, with how far beneath it is: 0 is the instance itself.
    pub fn with_level(&mut self, key: &str) -> Option<(usize, Field<'t>)> {
        // All of them are asked, for what nobody asks for is unknown.
        let all: Vec<_> = self.layers.iter_mut().map(|layer| layer.field(key)).collect();
        all.into_iter().enumerate().find_map(|(level, field)| Some((level, field?)))
    }

    /// What one level has at a key.
    pub fn at(&mut self, level: usize, key: &str) -> Option<Field<'t>> {
        self.layers.get_mut(level)?.field(key)
    }

    /// What a level, or one beneath it, has at a key.
    pub fn from(&mut self, level: usize, key: &str) -> Option<Field<'t>> {
        self.layers.iter_mut().skip(level).find_map(|layer| layer.field(key))
    }

    /// The first of these levels that has a key.
    pub fn above(&mut self, level: usize, key: &str) -> Option<Field<'t>> {
        self.layers.iter_mut().take(level).find_map(|layer| layer.field(key))
    }

    /// How many levels there are.
    pub fn depth(&self) -> usize {
        self.layers.len()
    }

    /// What can be left aside without a word.
    pub fn skip(&mut self, keys: &[&str]) {
        self.layers.iter_mut().for_each(|layer| layer.skip(keys));
    }

    /// What the application decides in code, or what no scenario can say.
    pub fn leave_out(&mut self, keys: &[&str], why: &str, block: &mut Block, draft: &mut Draft) {
        for key in keys {
            if let Some(field) = self.field(key) {
                draft.leave_out(block, &field, why);
            }
        }
    }

    /// Everything that has not been asked for is unknown.
    pub fn end(self, block: &mut Block, draft: &mut Draft) {
        self.layers.iter().for_each(|layer| draft.unknown(Some(block), layer));
    }
}

/// Something in the file does nothing.
pub fn without_effect(field: &Field<'_>, why: &str, hint: &str, draft: &mut Draft) {
    draft.surprise(&field.place(), format!("`{}` has no effect: {why}", field.name), hint);
}

/// The texts of a list, or of a scalar with commas in it, with where they are.
pub fn texts<'t>(field: &Field<'t>, draft: &mut Draft) -> Vec<(&'t str, Field<'t>)> {
    let mut texts = Vec::new();
    for node in field.items() {
        let item = Field { node, ..field.clone() };
        // A null in a list is nothing.
        if matches!(node.value, Value::Null) {
            continue;
        }
        if let Some(text) = draft.text(&item) {
            texts.extend(
                text.split(',').map(str::trim).filter(|text| !text.is_empty()).map(|text| (text, item.clone())),
            );
        }
    }
    texts
}
