//! What services have to do when everything fails, against what they can do.

use crate::analysis::{Explanation, ServiceLoad, Standing};
use crate::number::{self, Style};
use crate::report::text::explain::column;
use crate::report::text::{BAD, GOOD, WARNING, grid, styled};

pub(super) fn render(explanation: &Explanation, width: usize) -> String {
    let services = &explanation.services;
    // A single path says it all.
    let has_paths = explanation.paths.len() > 1;
    let attempts = if has_paths { attempts(services, width) } else { String::new() };
    [attempts, loads(services, width)].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
}

/// How many attempts one request makes, over all paths.
fn attempts(services: &[ServiceLoad], width: usize) -> String {
    let mut clients: Vec<&str> = Vec::new();
    for client in services.iter().flat_map(|service| &service.clients) {
        if !clients.contains(&client.client.as_str()) {
            clients.push(&client.client);
        }
    }
    let reached: Vec<&ServiceLoad> = services.iter().filter(|service| !service.clients.is_empty()).collect();
    let columns: Vec<_> = clients
        .iter()
        .map(|client| {
            column(client, &reached, |service| {
                match service.clients.iter().find(|attempts| attempts.client == *client) {
                    None => "-".to_owned(),
                    Some(attempts) => attempts
                        .at_most
                        .map_or_else(|| "no limit".to_owned(), |most| number::plain(most, Style::Count, 4)),
                }
            })
        })
        .collect();
    let head = "Attempts for one request at most, over all paths:\n".to_owned();
    head + &grid::evenly(&column("service", &reached, |service| service.service.clone()), &columns, width)
}

fn loads(services: &[ServiceLoad], width: usize) -> String {
    let is_told = |it: &&ServiceLoad| it.capacity_rps.or(it.capacity_at_most_rps).is_some() || it.offered_rps.is_some();
    let told: Vec<&ServiceLoad> = services.iter().filter(is_told).collect();
    if told.is_empty() {
        return String::new();
    }
    let rate = |rate: Option<f64>| {
        rate.map_or_else(|| "-".to_owned(), |rate| format!("{}/s", number::plain(rate, Style::Count, 4)))
    };
    let mut columns = vec![
        column("can do", &told, |it| match it.capacity_at_most_rps {
            Some(bound) => format!("at most {}", rate(Some(bound))),
            None => rate(it.capacity_rps),
        }),
        column("has to do", &told, |it| rate(it.offered_rps)),
        column("if all\nattempts fail", &told, |it| rate(it.failing_rps)),
    ];
    if told.iter().any(|it| it.standing.is_some()) {
        columns.push(column("standing", &told, |it| it.standing.map_or("", word).to_owned()));
    }
    let table = grid::evenly(&column("service", &told, |it| it.service.clone()), &columns, width);
    coloured(&table)
}

fn word(standing: Standing) -> &'static str {
    match standing {
        Standing::Stable => "stable",
        Standing::Vulnerable => "vulnerable",
        Standing::Overloaded => "overloaded",
    }
}

/// The layout counts the bytes of a colour as characters, so colours come after it.
fn coloured(table: &str) -> String {
    let styles = [(Standing::Stable, GOOD), (Standing::Vulnerable, WARNING), (Standing::Overloaded, BAD)];
    let paint = |line: &str| {
        let found = styles.iter().find(|(standing, _)| line.trim_end().ends_with(word(*standing)));
        match found {
            Some((standing, style)) => {
                line.trim_end().trim_end_matches(word(*standing)).to_owned() + &styled(*style, word(*standing))
            }
            None => line.to_owned(),
        }
    };
    table.lines().map(|line| paint(line) + "\n").collect()
}
