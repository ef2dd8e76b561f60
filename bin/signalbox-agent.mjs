#!/usr/bin/env node
import { existsSync, readFileSync } from 'node:fs';
import process from 'node:process';
import { start } from './start.mjs';

/**
 * An agent runs on small boards beside other programs and allocates little at a time. A small young generation saves about
 * 10 MB of resident memory when idle (`npm run bench -- agent`), and hundreds of MB beside routers that send without end. The
 * bundle of the package sets these flags itself.
 */
const flags = new URL('../agent/v8-flags.json', import.meta.url);
const nodeFlags = existsSync(flags) ? JSON.parse(readFileSync(flags, 'utf8')) : [];

void start({ source: 'agent/main.ts', packaged: 'dist/signalbox-agent.cjs', nodeFlags }, process.argv.slice(2));
