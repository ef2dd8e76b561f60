#!/usr/bin/env node
import process from 'node:process';
import { runWithNode24 } from '../scripts/bootstrap.mjs';

await runWithNode24('agent/main.ts', process.argv.slice(2));
