// got: its defaults.
import got from 'got';
import {KINDS, Measuring, STEPS, timeoutFor, windowOf, withSweptRandom} from './measuring.mjs';

const measuring = new Measuring('got');

// Makes a request that fails, and gives the waits before its retries.
async function attempt(behaviour, {skip = true, retry = {}, timeout = {}} = {}) {
	const waits = [];
	const calculateDelay = ({computedValue}) => {
		// 0 is the word for no further retry.
		if (computedValue === 0) {
			return 0;
		}

		waits.push(computedValue);
		return skip ? 1 : computedValue;
	};

	await got(measuring.target(behaviour), {timeout, retry: {calculateDelay, ...retry}}).catch(() => {});
	return waits;
}

// The windows of the waits before each retry, with the sweep moved on by one number for each request.
async function schedule(retry) {
	const waits = [];
	for (let round = 0; round < STEPS; round++) {
		waits.push(await attempt('503', {retry}));
	}

	return waits[0].map((_, index) => windowOf(waits.map(draws => draws[index])));
}

const defaults = await attempt('503');
measuring.tell('got defaults', {attempts: defaults.length + 1});
await withSweptRandom(async () => {
	measuring.tell('got defaults', {waits: await schedule({})});
	measuring.tell('got limit', {waits: await schedule({limit: 5, backoffLimit: 3000})});
});

const retried = [];
for (const kind of KINDS) {
	const waits = await attempt(kind, {timeout: {response: timeoutFor(kind)}});
	if (waits.length > 0) {
		retried.push(kind);
	}
}

measuring.tell('got defaults', {retried, tried: KINDS});
const [asked] = await attempt('429-after');
measuring.tell('got retry-after', {after: {mean: asked, most: asked}});
const tooLong = await attempt('429-after', {retry: {maxRetryAfter: 1000}});
measuring.tell('got longer retry-after', {attempts: tooLong.length + 1});

await attempt('503', {skip: false});
measuring.tell('got waiting', {attempts: defaults.length + 1, gaps: [await measuring.gaps()]});
