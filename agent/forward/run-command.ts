import { AgentError } from '../core/errors.ts';
import type { ApiCommand, CommandReply, Deadline, RouterAdapter } from '../routers/adapter.ts';

/** Runs one of the agent's own commands. A refusal (`not enough permissions (9)`) names the command. @throws AgentError */
export async function runCommand(router: RouterAdapter, command: ApiCommand, deadline: Deadline): Promise<CommandReply> {
  try {
    return await router.command(command, deadline);
  } catch (error) {
    if (!(error instanceof AgentError) || error.code !== 'rejected') throw error;
    throw new AgentError('rejected', `${error.message} (${command.path})`, { cause: error, category: error.category });
  }
}
