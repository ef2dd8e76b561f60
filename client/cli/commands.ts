import { backupCommands } from './backup-commands.ts';
import { campaignCommands } from './campaign-commands.ts';
import type { Command } from './command.ts';
import { UsageError } from './command.ts';
import { deviceCommands } from './device-commands.ts';
import { faultCommands } from './fault-commands.ts';
import { forwardCommands } from './forward-commands.ts';
import { forwardHere } from './forward-here.ts';
import { jobCommands } from './job-commands.ts';
import { moveCommands } from './move-commands.ts';
import { removalCommands } from './removal-commands.ts';
import { routerCommands } from './router-commands.ts';
import { sessionCommands } from './session-commands.ts';
import { teamCommands } from './team-commands.ts';

/** Parsed and explained like any other; `run.ts` does its work, because there is no profile yet to work with. */
export const loginCommand: Command = {
  name: 'login',
  summary: 'keep a server and an API key in the profile',
  positionals: [],
  options: {},
  examples: ['login --server https://signalbox.example.net'],
  run: () => Promise.reject(new UsageError('not a command')),
};

/** Prints a script for a shell; `run.ts` does its work, because it needs every command and no profile. */
export const completionCommand: Command = {
  name: 'completion',
  summary: 'print the completion script of a shell: bash, zsh or fish',
  positionals: ['SHELL'],
  options: {},
  examples: ['completion bash', 'completion zsh', 'completion fish'],
  run: () => Promise.reject(new UsageError('not a command')),
};

/** Every command for API users, in the order of the help. A longer name stands before the word it begins with. */
export const commands: readonly Command[] = [
  loginCommand,
  ...routerCommands,
  ...moveCommands,
  ...removalCommands,
  ...faultCommands,
  ...deviceCommands,
  ...jobCommands,
  ...campaignCommands,
  ...backupCommands,
  ...forwardCommands,
  forwardHere,
  ...sessionCommands,
  ...teamCommands,
  completionCommand,
];
