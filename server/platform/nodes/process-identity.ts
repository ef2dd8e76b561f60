import { readFileSync, readlinkSync } from 'node:fs';
import process from 'node:process';

/**
 * Names a process of this machine: boot, PID namespace, PID and the moment of its start. A PID alone is used again, and the same PID exists
 * in every container. Undefined where the system does not say (it is read from Linux's /proc), or when there is no such process.
 */
export function identifyProcess(pid: number = process.pid): string | undefined {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    // `pid:[4026531836]`, which is that of the reader: a process of another namespace is not found by its PID.
    const namespace = readlinkSync('/proc/self/ns/pid');
    const status = readStatus(pid);
    return status && !status.hasEnded ? [boot, namespace, pid, status.startedAt].join(' ') : undefined;
  } catch {
    return undefined;
  }
}

/**
 * True when a process ran where this one runs, and is certainly gone. False also when nobody knows: `/proc` hides the processes of other
 * users from a service with `ProtectProc=invisible`, so that an unreadable one says nothing.
 */
export function isGone(identity: string | null): boolean {
  const own = identifyProcess()?.split(' ');
  if (identity === null || own === undefined) return false;
  const [boot, namespace, pid] = identity.split(' ');
  if (boot !== own[0] || namespace !== own[1]) return false;
  if (!exists(Number(pid))) return true;
  const status = readStatus(Number(pid));
  return status !== undefined && (status.hasEnded || [boot, namespace, pid, status.startedAt].join(' ') !== identity);
}

/** True also for a process of another user, and for one that has ended and that its parent has not asked for yet. */
function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

interface Status {
  /** A zombie. */
  hasEnded: boolean;
  /** Clock ticks from the start of the machine. */
  startedAt: string;
}

/** Undefined when it cannot be read. */
function readStatus(pid: number): Status | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name in brackets may hold spaces and brackets. After it: state, …, and as the 20th the start.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { hasEnded: fields[0] === 'Z' || fields[0] === 'X', startedAt: fields[19] ?? '' };
  } catch {
    return undefined;
  }
}
