import { backupCommands } from './backup-commands.ts';
import { campaignCommands } from './campaign-commands.ts';
import type { Command } from './command.ts';
import { UsageError } from './command.ts';
import { deviceCommands } from './device-commands.ts';
import { faultCommands } from './fault-commands.ts';
import { fleetCommands } from './fleet/commands.ts';
import { forwardCommands } from './forward-commands.ts';
import { forwardHere } from './forward-here.ts';
import { jobCommands } from './job-commands.ts';
import { moveCommands } from './move-commands.ts';
import { agentRemovalCommands, routerRemovalCommands } from './removal-commands.ts';
import { routerCommands } from './router-commands.ts';
import { notifyCommands } from './notify/commands.ts';
import { terminalCommands } from './terminal/commands.ts';
import { sessionCommands } from './session-commands.ts';
import { agentListCommands, teamCommands } from './team-commands.ts';

/** Parsed and explained like any other command. `run.ts` executes it, because there is no profile yet. */
export const loginCommand: Command = {
  name: 'login',
  summary: 'store a server and an API key in the profile',
  about: `An administrator of the team makes the key with the role that you need: in the
web application under Settings, API keys, or on the server with
"signalbox key create". It is asked for, unless --key or SIGNALBOX_KEY gives it.`,
  positionals: [],
  options: {},
  examples: ['login --server https://signalbox.example.net'],
  run: () => Promise.reject(new UsageError('not a command')),
};

/** `run.ts` executes it, because it needs all commands and no profile. */
export const completionCommand: Command = {
  name: 'completion',
  summary: 'print the completion script for bash, zsh or fish',
  positionals: ['SHELL'],
  options: {},
  examples: ['completion bash', 'completion zsh', 'completion fish'],
  run: () => Promise.reject(new UsageError('not a command')),
};

/** Commands that the overview lists under one title. */
export interface CommandGroup {
  title: string;
  commands: readonly Command[];
}

export const commandGroups: readonly CommandGroup[] = [
  { title: 'Sign in', commands: [loginCommand] },
  { title: 'The fleet', commands: fleetCommands },
  {
    title: 'Routers and devices',
    commands: [...routerCommands, ...routerRemovalCommands, ...moveCommands, ...faultCommands, ...deviceCommands],
  },
  { title: 'Jobs and campaigns', commands: [...jobCommands, ...campaignCommands] },
  { title: 'Backups', commands: backupCommands },
  { title: 'Terminals', commands: terminalCommands },
  { title: 'Notifications', commands: notifyCommands },
  { title: 'Forwards', commands: [...forwardCommands, forwardHere] },
  { title: 'Agents and team', commands: [...agentListCommands, ...agentRemovalCommands, ...teamCommands] },
  { title: 'Events and completion', commands: [...sessionCommands, completionCommand] },
];

/** Every command for API users. A longer name stands before the word that it begins with. */
export const commands: readonly Command[] = commandGroups.flatMap((group) => group.commands);
