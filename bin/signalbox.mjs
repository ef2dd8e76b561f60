#!/usr/bin/env node
import process from 'node:process';
import { start } from './start.mjs';

/** Commands for API users, from any machine. All others administer the server on its own machine. */
const FOR_API_USERS = new Set([
  'notify',
  'login',
  'status',
  'top',
  'history',
  'sessions',
  'routers',
  'router',
  'router-moves',
  'router-move',
  'agent',
  'run',
  'faults',
  'devices',
  'device',
  'job',
  'campaign',
  'backups',
  'backup',
  'forward',
  'terminal',
  'terminals',
  'events',
  'agents',
  'members',
  'ping',
  'keys',
  'sites',
  'audit',
  'completion',
]);
/** Options of these commands that may stand before the command. */
const LEADING_OPTION = /^--(server|key|profile)(=|$)/;

const words = process.argv.slice(2);
const isForApiUsers = FOR_API_USERS.has(words[0]) || LEADING_OPTION.test(words[0] ?? '');
const program = isForApiUsers ? 'client' : 'server';
await start({ source: `${program}/main.ts`, packaged: `dist/${program}/main.js` }, words);
