import { readFileSync, readdirSync, readlinkSync } from 'node:fs';

/** What a process holds, as the kernel tells (Linux). */
export interface ProcessState {
  descriptors: number;
  residentBytes: number;
}

export function processState(pid: number): ProcessState {
  const resident = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return { descriptors: readdirSync(`/proc/${pid}/fd`).length, residentBytes: Number(resident) * 1024 };
}

function descriptorTargets(pid: number): string[] {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).flatMap((name) => {
    try {
      return [readlinkSync(`${folder}/${name}`)];
    } catch {
      // Closed meanwhile.
      return [];
    }
  });
}

const LISTEN = '0A';

/** TCP ports on which a process listens. */
export function listeningPorts(pid: number): number[] {
  const inodes = new Set(descriptorTargets(pid).flatMap((target) => /^socket:\[(\d+)\]$/.exec(target)?.[1] ?? []));
  const ports = new Set<number>();
  for (const file of ['/proc/net/tcp', '/proc/net/tcp6']) {
    for (const line of readFileSync(file, 'utf8').split('\n').slice(1)) {
      const [, local = '', , state, , , , , , inode = ''] = line.trim().split(/\s+/);
      if (state === LISTEN && inodes.has(inode)) ports.add(Number.parseInt(local.split(':')[1]!, 16));
    }
  }
  return [...ports].sort((a, b) => a - b);
}
