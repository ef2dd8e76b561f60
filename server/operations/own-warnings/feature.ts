import { feature } from '../../feature.ts';
import type { Platform } from '../../feature.ts';
import { Periodic } from '../../platform/core/periodic.ts';
import { selectNodes, setCertificateEnd } from '../../platform/nodes/store.ts';
import type { NodeRecord } from '../../platform/nodes/store.ts';
import { problemsOf, readCertificateEnd, readConditions } from './conditions.ts';
import type { Conditions } from './conditions.ts';
import { OwnWarnings } from './service.ts';

/** A disk of some gigabytes does not fill up much faster. */
const EVERY_MS = 5 * 60_000;

/** The certificate and the disk of the control plane; of several, one tells of the certificates of all. */
export const ownWarnings = feature({
  create: ({ config, storage, clock, log, cluster }: Pick<Platform, 'config' | 'storage' | 'clock' | 'log' | 'cluster'>) => {
    const read = async (now: number): Promise<Conditions> =>
      cluster
        ? { certificate: problemsOf((await selectNodes(storage.db)).map(certificateOf), now), disk: [] }
        : readConditions(config, now);
    const ownWarnings = new OwnWarnings({ storage, clock, read });
    const noteOwn = async (): Promise<void> => {
      if (!cluster) return;
      const endsAt = await readCertificateEnd(config);
      await storage.writes.write((tx) => setCertificateEnd(tx, cluster.nodeId, endsAt));
    };
    const watch = new Periodic({
      clock,
      log: log.child({ component: 'own-warnings' }),
      everyMs: EVERY_MS,
      failure: 'the certificate or the disk could not be looked at',
      run: async () => {
        await noteOwn();
        if (!cluster || cluster.members.isOwn('own warnings')) await ownWarnings.check();
      },
    });
    return { ownWarnings, ownWatch: watch, noteOwn };
  },
  start: async ({ ownWatch, noteOwn }) => {
    // Before the next look of the one that tells: it must not take the warning of this one for over.
    await noteOwn();
    ownWatch.start();
  },
  stop: (own) => own.ownWatch.stop(),
});

function certificateOf({ certificate_ends_at: endsAt, public_url: url, name }: NodeRecord): { endsAt: number | null; node: string } {
  return { endsAt, node: url === null ? name : new URL(url).host };
}
