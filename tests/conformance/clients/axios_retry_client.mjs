// axios-retry: its defaults, and its exponential delay.
import axios from 'axios';
import axiosRetry, {exponentialDelay, linearDelay} from 'axios-retry';
import {KINDS, Measuring, STEPS, timeoutFor, windowFrom, windowOf, withSweptRandom} from './measuring.mjs';

const measuring = new Measuring('axios-retry');

// Makes a request that fails, and gives the number of its retries and the waits before them.
async function attempt(behaviour, {delay, skip = true, ...options} = {}) {
	const client = axios.create({timeout: timeoutFor(behaviour), proxy: false});
	const waits = [];
	const settings = {shouldResetTimeout: true, ...options};
	if (delay !== undefined) {
		settings.retryDelay = (retry, error) => {
			waits.push(delay(retry, error));
			return skip ? 0 : waits.at(-1);
		};
	}

	let retries = 0;
	settings.onRetry = () => {
		retries += 1;
	};
	axiosRetry(client, settings);
	await client.get(measuring.target(behaviour)).catch(() => {});
	return {retries, waits};
}

async function scheduleOf(delay) {
	const windows = [];
	for (let retry = 1; retry <= 5; retry++) {
		windows.push(await windowFrom(() => delay(retry)));
	}

	return windows;
}

async function retriedKinds() {
	const retried = [];
	for (const kind of KINDS) {
		const {retries} = await attempt(kind, {delay: () => 0});
		if (retries > 0) {
			retried.push(kind);
		}
	}

	return retried;
}

// A wait of no length is nowhere else to be seen than between real attempts.
const {retries} = await attempt('503');
measuring.tell('axios-retry defaults', {attempts: retries + 1, gaps: [await measuring.gaps()]});
measuring.tell('axios-retry defaults', {retried: await retriedKinds(), tried: KINDS});

await withSweptRandom(async () => {
	measuring.tell('axios-retry exponential', {waits: await scheduleOf(exponentialDelay)});
	measuring.tell('axios-retry linear', {waits: await scheduleOf(linearDelay())});
});
await withSweptRandom(async () => {
	const draws = [];
	for (let round = 0; round < STEPS; round++) {
		const {waits} = await attempt('429-after', {delay: exponentialDelay, retries: 1});
		draws.push(waits[0]);
	}

	const {mean, most} = windowOf(draws);
	measuring.tell('axios-retry retry-after', {after: {mean, most}});
});

const calls = [];
for (let call = 0; call < 3; call++) {
	await attempt('503', {delay: exponentialDelay, skip: false});
	calls.push(await measuring.gaps());
}

measuring.tell('axios-retry waiting', {attempts: calls[0].length + 1, gaps: calls});
