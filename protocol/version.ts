/** WebSocket subprotocol of the tunnel and the channels; its number changes with every incompatible change. */
export const SUBPROTOCOL = 'signalbox.v1';

/** Protocol versions that this build supports, newest first. */
export const PROTOCOL_VERSIONS: readonly number[] = [1];

export const TUNNEL_PATH = '/agent/v1/tunnel';
export const CHANNEL_PATH = '/agent/v1/channel';
export const ENROL_PATH = '/agent/v1/enrol';
export const UNMANAGED_PATH = '/agent/v1/unmanaged';

/** The newest version that both sides support; undefined: the server closes with a reason. */
export function negotiateVersion(theirs: readonly number[]): number | undefined {
  return PROTOCOL_VERSIONS.find((version) => theirs.includes(version));
}
