import type { RouterState } from './state.ts';
import type { ServiceName } from './sessions.ts';

/** accept: served; drop: the packets vanish; reject: the client gets a reset. */
export type Verdict = 'accept' | 'drop' | 'reject';

export interface ArrivingPacket {
  service: ServiceName;
  remoteAddress: string;
  state: 'new' | 'established';
}

export function inputVerdict(router: RouterState, packet: ArrivingPacket): Verdict {
  void router;
  void packet;
  return 'accept';
}
