#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { runWithNode24 } from '../scripts/bootstrap.mjs';

/**
 * An agent lives on small boards beside other programs and makes little garbage at a time: a small young generation saves
 * about 10 MB of resident memory at rest (`npm run bench -- agent`), and hundreds beside routers that send without end.
 */
const v8Flags = JSON.parse(readFileSync(new URL('../agent/v8-flags.json', import.meta.url), 'utf8'));

void runWithNode24('agent/main.ts', process.argv.slice(2), v8Flags);
