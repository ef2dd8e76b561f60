/** Menus of RouterOS 7 with the commands that people ask for, for completion only: what a router really has, it says itself. */
const PRINTED = `
caps-man/access-list caps-man/actual-interface-configuration caps-man/configuration caps-man/interface caps-man/registration-table
certificate container container/config container/envs container/mounts disk
file interface interface/bonding interface/bridge interface/bridge/filter interface/bridge/host interface/bridge/port interface/bridge/settings
interface/bridge/vlan interface/detect-internet/state interface/eoip interface/ethernet interface/ethernet/poe interface/ethernet/switch
interface/ethernet/switch/port interface/gre interface/ipip interface/l2tp-client interface/l2tp-server/server interface/list interface/list/member
interface/lte interface/lte/apn interface/macvlan interface/ovpn-client interface/ovpn-server/server interface/pppoe-client interface/pppoe-server/server
interface/sstp-client interface/sstp-server/server interface/veth interface/vlan interface/vrrp interface/vxlan interface/wifi
interface/wifi/configuration interface/wifi/registration-table interface/wireguard interface/wireguard/peers interface/wireless
interface/wireless/registration-table interface/wireless/security-profiles
ip/address ip/arp ip/cloud ip/dhcp-client ip/dhcp-relay ip/dhcp-server ip/dhcp-server/lease ip/dhcp-server/network ip/dns ip/dns/cache ip/dns/static
ip/firewall/address-list ip/firewall/connection ip/firewall/connection/tracking ip/firewall/filter ip/firewall/layer7-protocol ip/firewall/mangle
ip/firewall/nat ip/firewall/raw ip/firewall/service-port ip/hotspot ip/hotspot/active ip/hotspot/user ip/ipsec/active-peers ip/ipsec/identity
ip/ipsec/installed-sa ip/ipsec/peer ip/ipsec/policy ip/ipsec/profile ip/ipsec/proposal ip/kid-control ip/neighbor ip/neighbor/discovery-settings
ip/pool ip/pool/used ip/proxy ip/route ip/service ip/settings ip/smb ip/ssh ip/traffic-flow ip/upnp ip/vrf
ipv6/address ipv6/dhcp-client ipv6/dhcp-server ipv6/firewall/address-list ipv6/firewall/filter ipv6/firewall/nat ipv6/nd ipv6/neighbor ipv6/pool
ipv6/route ipv6/settings
log mpls/ldp mpls/ldp/neighbor mpls/forwarding-table port ppp/active ppp/aaa ppp/profile ppp/secret queue/interface queue/simple queue/tree queue/type
radius routing/bfd/session routing/bgp/connection routing/bgp/session routing/bgp/template routing/filter/rule routing/id routing/ospf/area
routing/ospf/instance routing/ospf/interface routing/ospf/interface-template routing/ospf/neighbor routing/route routing/rule routing/table
snmp snmp/community system/clock system/device-mode system/health system/history system/identity system/leds system/license system/logging
system/logging/action system/note system/ntp/client system/ntp/server system/package system/package/update system/resource system/resource/cpu
system/resource/irq system/resource/pci system/resource/usb system/routerboard system/routerboard/settings system/scheduler system/script
system/script/environment system/script/job system/ups system/watchdog
tool/bandwidth-server tool/e-mail tool/graphing tool/mac-server tool/netwatch tool/romon tool/romon/discover tool/sniffer tool/sniffer/packet tool/traffic-monitor
tool/user-manager user user/active user/group user/ssh-keys user-manager/session user-manager/user zerotier zerotier/interface
`;

const OTHERS = [
  '/export',
  '/interface/ethernet/monitor',
  '/interface/ethernet/poe/monitor',
  '/interface/lte/monitor',
  '/interface/monitor-traffic',
  '/interface/sfp/monitor',
  '/ip/address/add',
  '/ip/address/remove',
  '/ip/address/set',
  '/ip/address/export',
  '/ip/cloud/force-update',
  '/ip/dhcp-client/release',
  '/ip/dhcp-client/renew',
  '/ip/dns/cache/flush',
  '/ip/dns/set',
  '/ip/firewall/export',
  '/ip/firewall/filter/add',
  '/ip/firewall/nat/add',
  '/ip/route/add',
  '/ip/route/check',
  '/ip/service/set',
  '/ping',
  '/system/clock/set',
  '/system/identity/set',
  '/system/package/update/check-for-updates',
  '/system/reboot',
  '/tool/fetch',
  '/tool/netwatch/add',
  '/tool/profile',
  '/tool/traceroute',
];

export const COMMANDS: readonly string[] = [
  ...PRINTED.trim()
    .split(/\s+/)
    .map((menu) => `/${menu}/print`),
  ...OTHERS,
].sort();
