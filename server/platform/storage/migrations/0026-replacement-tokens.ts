import { capabilities, type Engine } from '../capabilities.ts';
import type { Migration } from './types.ts';

/** The agent that whoever enrols with a token goes on as. */
export const replacementTokens: Migration = {
  number: 26,
  name: 'replacement tokens',
  statements: (engine: Engine) => [`alter table enrol_tokens add column replaces_agent_id ${capabilities[engine].text}`],
};
