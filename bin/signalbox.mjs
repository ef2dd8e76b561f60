#!/usr/bin/env node
import process from 'node:process';
import { runWithNode24 } from '../scripts/bootstrap.mjs';

runWithNode24('server/main.ts', process.argv.slice(2));
