#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { runWithNode24 } from '../scripts/bootstrap.mjs';

/**
 * An agent runs on small boards beside other programs and allocates little at a time. A small young generation saves about
 * 10 MB of resident memory when idle (`npm run bench -- agent`), and hundreds of MB beside routers that send without end.
 */
const v8Flags = JSON.parse(readFileSync(new URL('../agent/v8-flags.json', import.meta.url), 'utf8'));

void runWithNode24('agent/main.ts', process.argv.slice(2), v8Flags);
