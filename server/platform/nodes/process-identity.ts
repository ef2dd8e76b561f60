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
    const status = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name in brackets may hold spaces and brackets. After it: state (a zombie has ended), …, and as the 20th the start in ticks.
    const fields = status.slice(status.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return undefined;
    return [boot, namespace, pid, fields[19]].join(' ');
  } catch {
    return undefined;
  }
}

/** True when a process ran where this one runs, and is certainly gone. False also when nobody knows. */
export function isGone(identity: string | null): boolean {
  const own = identifyProcess()?.split(' ');
  if (identity === null || own === undefined) return false;
  const [boot, namespace, pid] = identity.split(' ');
  if (boot !== own[0] || namespace !== own[1]) return false;
  return identifyProcess(Number(pid)) !== identity;
}
