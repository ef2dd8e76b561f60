import { versionKey } from '../../../routeros-text/versions.ts';
import type { Storage } from '../../platform/storage/db.ts';
import { selectWithoutVersionKey, updateVersionKey } from './store.ts';

/** Rows of one write: about 1 ms on SQLite. */
const CHUNK = 500;

/** Gives routers from before migration 27, or from an older export, the key that orders their versions. */
export async function fillVersionKeys({ db, writes }: Pick<Storage, 'db' | 'writes'>): Promise<void> {
  for (;;) {
    const rows = await selectWithoutVersionKey(db, CHUNK);
    const byKey = Map.groupBy(rows, ({ software_version: version }) => versionKey(version));
    for (const [key, routers] of byKey)
      await writes.write((tx) =>
        updateVersionKey(
          tx,
          routers.map(({ id }) => id),
          key,
        ),
      );
    if (rows.length < CHUNK) return;
  }
}
