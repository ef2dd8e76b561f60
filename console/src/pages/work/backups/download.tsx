import { useState } from 'react';
import type { Backup } from '../../../../../client/browser.ts';
import { useFleet } from '../../../data/use-fleet.ts';
import { sizeOf } from '../../../parts/sizes.ts';
import { words } from './words.ts';

type Part = Backup['parts'][number];

interface Props {
  routerId: string;
  identity: string;
  backup: Backup;
  part: Part;
}

/** Fetches one file with the person's token and hands it to the browser as a download. */
export function DownloadButton({ routerId, identity, backup, part: { part, size, sha256 } }: Props) {
  const { api } = useFleet();
  const [state, setState] = useState<'idle' | 'reading' | 'failed'>('idle');
  async function download(): Promise<void> {
    setState('reading');
    try {
      const file = await api.file('downloadBackup', { path: { router_id: routerId, backup_id: backup.id }, query: { part } });
      save(file, `${identity}-${backup.created_at.slice(0, 16).replace(':', '')}-${part}.${part === 'binary' ? 'backup' : 'rsc'}`);
      setState('idle');
    } catch {
      // The reader tries again; nothing was changed by the attempt.
      setState('failed');
    }
  }
  return (
    <button
      type="button"
      className="btn quiet sm"
      title={words.file.digest(sha256)}
      disabled={state === 'reading'}
      onClick={() => void download()}
    >
      {state === 'failed' ? words.file.failed(words.files[part]) : words.files[part]} <span className="faint">{sizeOf(size)}</span>
    </button>
  );
}

function save(file: Blob, name: string): void {
  const address = URL.createObjectURL(file);
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  // The browser has its own hold on the file as soon as the download has begun.
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
