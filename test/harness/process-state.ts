import { readFileSync, readdirSync, readlinkSync } from 'node:fs';

/** Open resources of a process, from the kernel (Linux). */
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

/** The processes that one has started and that still run. */
export function childrenOf(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return text === '' ? [] : text.split(' ').map(Number);
}

/** Program and arguments; empty when there is no such process, or only what its parent has yet to collect. */
export function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  } catch {
    return '';
  }
}
