/** Names of everything that the set-up lines create on a router. They are unique, so that a repeat and the removal find them. */

export const COMMENT = 'signalbox';
/** Not `signalbox`, which is the user of an agent beside the router (docs/agent.md). */
export const USER = 'signalbox-container';
export const VETH = 'veth-signalbox';
export const CERTIFICATE = 'signalbox-api';
/** A network of two hosts, in a rarely used part of RFC 1918. */
export const NETWORK = '172.31.255.0';
export const ROUTER_ADDRESS = '172.31.255.1';
export const AGENT_ADDRESS = '172.31.255.2';

/** Folder with the configuration, below the disk; in the container it is /etc/signalbox. */
export const FOLDER = 'signalbox';
/** Where RouterOS unpacks the image. */
export const ROOT_FOLDER = 'signalbox-root';
export const TOKEN_FILE = 'enrol-token.txt';
