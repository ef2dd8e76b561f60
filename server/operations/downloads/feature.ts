import { feature } from '../../feature.ts';
import type { Platform } from '../../feature.ts';
import { downloadRoutes } from './routes.ts';
import type { AgentRelease } from './types.ts';

export { readAgentRelease } from './service.ts';

/** Hands out the agent, and a script that installs it. */
export const downloads = feature({
  create: () => ({}),
  openRoutes: async (app, { agentRelease, config }: Pick<Platform, 'config'> & { agentRelease: AgentRelease | null }) => {
    downloadRoutes(app, { agentRelease, publicUrl: config.publicUrl });
  },
});
