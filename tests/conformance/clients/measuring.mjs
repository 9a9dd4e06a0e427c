// What the scripts of the JavaScript clients share.
import {readFileSync} from 'node:fs';
import {parseArgs} from 'node:util';

// How many numbers a sweep has.
export const STEPS = 101;

// The failures of which a client is asked whether it tries again.
export const KINDS = ['refused', 'reset', 'hang', '500', '503', '504', '429', '503-after', '429-after'];

// The timeout of a client in milliseconds: short where the server hangs, else not to be met on a busy machine.
export function timeoutFor(behaviour) {
	return behaviour === 'hang' ? 50 : 10_000;
}

// Puts a source that walks evenly from 0 to the largest number below 1, over and over, in the place of `Math.random`,
// as long as `measure` lasts. A wait that takes one number is seen at both of its ends, and the mean of a round is
// exact.
export async function withSweptRandom(measure) {
	const original = Math.random;
	let step = -1;
	Math.random = () => {
		step = (step + 1) % STEPS;
		return Math.min(step / (STEPS - 1), 1 - 2 ** -53);
	};

	try {
		return await measure();
	} finally {
		Math.random = original;
	}
}

// The window of a wait in milliseconds, of which `draw` gives one, from one round of a sweep.
export function windowOf(draws) {
	const mean = draws.reduce((sum, draw) => sum + draw) / draws.length;
	return {least: Math.min(...draws), most: Math.max(...draws), mean};
}

// Calls `draw` for one round of a sweep.
export async function windowFrom(draw) {
	const draws = [];
	for (let step = 0; step < STEPS; step++) {
		draws.push(await draw());
	}

	return windowOf(draws);
}

// Where a script's server is, and what the script measured.
export class Measuring {
	#arguments = parseArgs({options: {port: {type: 'string'}, 'refusing-port': {type: 'string'}}}).values;
	#version;
	#name;
	#keys = 0;
	#key;

	constructor(name) {
		this.#name = name;
		// Not every package lets its own description be imported.
		const description = new URL(`node_modules/${name}/package.json`, import.meta.url);
		this.#version = JSON.parse(readFileSync(description, 'utf8')).version;
	}

	// The address of a server that behaves so; attempts there are counted from here on.
	target(behaviour) {
		this.#keys += 1;
		this.#key = `${this.#name}-${this.#keys}`;
		const port = this.#arguments[behaviour === 'refused' ? 'refusing-port' : 'port'];
		return `http://127.0.0.1:${port}/${this.#key}/${behaviour}`;
	}

	// The times between the attempts at the last target, in milliseconds.
	async gaps() {
		const answer = await fetch(`http://127.0.0.1:${this.#arguments.port}/${this.#key}/arrivals`);
		const arrivals = await answer.json();
		return arrivals.slice(1).map((instant, attempt) => (instant - arrivals[attempt]) * 1000);
	}

	// Hands what was measured to the judge.
	tell(name, measured) {
		console.log(JSON.stringify({case: name, version: this.#version, ...measured}));
	}
}
