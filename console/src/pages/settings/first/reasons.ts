/** How far a new agent has come. */
export type Stage = 'token' | 'agent' | 'routers' | 'answer' | 'done';

/** Why it stays silent at each stage, the most usual first. */
export const REASONS: Record<Exclude<Stage, 'done'>, readonly { name: string; text: string }[]> = {
  token: [
    { name: 'Not run yet', text: 'the lines were copied, and something stopped them: read their last line' },
    { name: 'No name', text: 'the machine cannot resolve the name of this control plane' },
    { name: 'Port closed', text: 'a firewall lets only known hosts out' },
    { name: 'TLS', text: 'a box in between shows its own certificate, or the CA is your own: --server-ca FILE' },
    { name: 'Clock', text: 'a clock that is wrong makes every certificate invalid' },
  ],
  agent: [
    { name: 'Not running', text: 'it is enrolled and does not run: systemctl status signalbox-agent, or the log of the container' },
    { name: 'Configuration', text: 'agent.yaml is missing or wrong: signalbox-agent check says where' },
    { name: 'WebSocket', text: 'a proxy in between lets requests through, but no WebSocket' },
  ],
  routers: [
    { name: 'None named', text: 'agent.yaml has no routers yet' },
    { name: 'No route', text: 'the machine does not reach their addresses' },
    { name: 'Login refused', text: 'the user, its password, or its list of allowed addresses' },
  ],
  answer: [
    { name: 'Login refused', text: 'the user needs the policies read, write, api, ssh and test' },
    { name: 'Refused', text: '/ip/service: api-ssl or ssh is off, has another port, or allows other addresses only' },
    { name: 'Another agent', text: 'another agent of the team has this router: Settings, Enrolment' },
  ],
};
