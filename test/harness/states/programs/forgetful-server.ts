/** Deliberately broken: a control plane that tells nobody which states its start has changed. */
import { StatesService } from '../../../../server/fleet/states/service.ts';

/** The states that a start has changed are told after a second. */
const SILENT_MS = 1500;

const start = StatesService.prototype.start;
StatesService.prototype.start = async function silently(this: StatesService): Promise<void> {
  const { changes } = this;
  const publish = changes.publish;
  changes.publish = () => undefined;
  await start.call(this);
  setTimeout(() => (changes.publish = publish), SILENT_MS);
};

await import('./server.ts');
