import type { RouterView } from './router-view.ts';

/** A small configuration as RouterOS would export it, with the changes of scripts at its end. */
export function exportOf({ identity, version, plan, changes }: RouterView, now: Date): string {
  const { host, model, serial, softwareId } = plan;
  const [major] = version.split('.');
  const lines = [
    `# ${now.toISOString().slice(0, 19).replace('T', ' ')} by RouterOS ${version.split(' ')[0]}`,
    `# software id = ${softwareId}`,
    '#',
    `# model = ${model.model}`,
    `# serial number = ${serial}`,
    '/interface bridge',
    'add comment=customers name=bridge',
    '/interface ethernet',
    `set [ find default-name=ether1 ] comment="uplink ${identity}"`,
    '/ip pool',
    'add name=customers ranges=192.168.88.20-192.168.88.240',
    '/ip dhcp-server',
    'add address-pool=customers interface=bridge lease-time=1h name=customers',
    '/ip address',
    `add address=${host}/24 comment=management interface=ether1 network=${host.replace(/\d+$/, '0')}`,
    'add address=192.168.88.1/24 interface=bridge network=192.168.88.0',
    '/ip dns',
    'set allow-remote-requests=yes servers=10.16.0.53,10.16.1.53',
    '/ip firewall filter',
    'add action=accept chain=input connection-state=established,related,untracked',
    'add action=accept chain=input comment=management src-address=10.16.0.0/12',
    'add action=drop chain=input in-interface=ether1',
    '/ip firewall nat',
    'add action=masquerade chain=srcnat out-interface=ether1',
    '/ip route',
    `add gateway=${host.replace(/\d+$/, '254')}`,
    '/ip service',
    'set telnet disabled=yes',
    'set ftp disabled=yes',
    major === '6'
      ? '/system ntp client\nset enabled=yes primary-ntp=10.16.0.123'
      : '/system ntp client\nset enabled=yes\n/system ntp client servers\nadd address=10.16.0.123',
    '/system identity',
    `set name=${identity}`,
    ...changes,
  ];
  return `${lines.join('\n')}\n`;
}
