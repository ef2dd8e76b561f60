/** Words of states and reasons (docs/states.md) for people. What is not listed is shown with spaces for its underscores. */
const WORDS: Record<string, string> = {
  not_answering: 'not answering',
  agent_away: 'agent away',
  never_seen: 'never seen',
  login_refused: 'login refused',
  no_route: 'no route',
  left: 'agent stopped',
  host_key: 'host key changed',
  tls: 'TLS failed',
  closed: 'router closed the connection',
  refused: 'API refused the connection',
  ssh_refused: 'SSH refused the connection',
  server_stopped: 'control plane stopped',
  handshake_timeout: 'handshake timed out',
};

export function wordOf(code: string): string {
  return WORDS[code] ?? code.replaceAll('_', ' ');
}
