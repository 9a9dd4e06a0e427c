// p-retry: its defaults. Its waits are timers of the platform: a stand-in notes their lengths, and they end at once.
import pRetry from 'p-retry';
import {Measuring, STEPS, windowOf, withSweptRandom} from './measuring.mjs';

const measuring = new Measuring('p-retry');

// Fails until there are no retries left, and gives the waits before them.
async function attempt(options = {}) {
	const waits = [];
	const original = globalThis.setTimeout;
	globalThis.setTimeout = (ended, delay) => {
		waits.push(delay);
		return original(ended, 0);
	};

	let attempts = 0;
	try {
		await pRetry(() => {
			attempts += 1;
			throw new Error('as asked');
		}, options);
	} catch {} finally {
		globalThis.setTimeout = original;
	}

	return {attempts, waits};
}

// The windows of the waits before each retry; a call of ten takes as many numbers, so that a sweep is at each of its
// numbers once for each retry after as many calls as it has numbers: 10 and 101 have no common divisor.
async function schedule(options) {
	const calls = [];
	for (let round = 0; round < STEPS; round++) {
		const {waits} = await attempt(options);
		calls.push(waits);
	}

	return calls[0].map((_, index) => windowOf(calls.map(waits => waits[index])));
}

const {attempts, waits} = await attempt();
measuring.tell('p-retry defaults', {attempts, waits: waits.map(wait => windowOf([wait]))});
await withSweptRandom(async () => {
	measuring.tell('p-retry randomize', {waits: await schedule({randomize: true, maxTimeout: 30_000})});
});

const calls = [];
for (let call = 0; call < 3; call++) {
	const instants = [];
	await pRetry(() => {
		instants.push(performance.now());
		throw new Error('as asked');
	}, {retries: 3, minTimeout: 100}).catch(() => {});
	calls.push(instants.slice(1).map((instant, index) => instant - instants[index]));
}

measuring.tell('p-retry waiting', {attempts: calls[0].length + 1, gaps: calls});
