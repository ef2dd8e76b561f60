/** What lies under /ip, /ipv6, /ppp, /queue, /radius and /routing and does nothing here but be kept. */
export const NETWORK_TABLES = `
/ip/settings  single
  ip-forward              bool                                  =yes
  send-redirects          bool                                  =yes
  accept-source-route     bool                                  =no
  accept-redirects        bool                                  =no
  secure-redirects        bool                                  =yes
  rp-filter               loose|no|strict                       =no
  tcp-syncookies          bool                                  =no
  max-neighbor-entries    16..4294967295                        =8192
  arp-timeout             duration                              =30s
  icmp-rate-limit         0..4294967295                         =10
  route-cache             bool                                  =yes   until=7.0

/ip/dns/cache  observed
  name                    readonly
  type                    readonly
  data                    readonly
  ttl                     readonly

/ip/neighbor/discovery-settings  single
  discover-interface-list   @/interface/list|!dynamic           =static
  lldp-med-net-policy-vlan  disabled|1..4094                    =disabled

/ip/upnp  single
  enabled                 bool                                  =no
  allow-disable-external-interface  bool                        =no
  show-dummy-rule         bool                                  =yes

/ip/proxy  single
  enabled                 bool                                  =no
  port                    1..65535                              =8080
  anonymous               bool                                  =no
  max-cache-size          none|unlimited|0..4294967295          =unlimited

/ip/socks  single
  enabled                 bool                                  =no
  port                    1..65535                              =1080
  version                 4|5                                   =4

/ip/traffic-flow  single
  enabled                 bool                                  =no
  interfaces              all|list(interface)                   =all
  active-flow-timeout     duration                              =30m

/ip/firewall/layer7-protocol  unique=name comment
  name                    required
  regexp                  required

/ip/firewall/service-port
  name                    readonly
  ports                   =
  disabled                bool                                  =no
+ name=ftp ports=21 disabled=false
+ name=sip ports=5060,5061 disabled=false

/ip/dhcp-server/option  unique=name comment
  name                    required
  code                    1..254                                required
  value                   =

/ip/dhcp-relay  unique=name flags
  name                    required
  interface               interface                             required
  dhcp-server             list(ip)                              required
  local-address           ip                                    =0.0.0.0

/ip/hotspot  unique=name flags
  name                    required
  interface               interface                             required
  address-pool            none|@/ip/pool                        =none
  profile                 @/ip/hotspot/profile                  =default
  idle-timeout            duration                              =5m

/ip/hotspot/profile  unique=name
  name                    required
  hotspot-address         ip                                    =0.0.0.0
  dns-name                =
  login-by                list(cookie|http-chap|http-pap|https|mac|mac-cookie|trial)   =cookie,http-chap
+ name=default hotspot-address=0.0.0.0 dns-name= login-by=cookie,http-chap

/ip/hotspot/user  unique=name noun=hotspot_user flags
  server                  all|@/ip/hotspot                      =all
  name                    required
  password                =                                     sensitive
  profile                 @/ip/hotspot/user/profile             =default
  address                 ip
  mac-address             mac
  limit-uptime            duration
  limit-bytes-total       0..4294967295
  uptime                  readonly                              =0s
  bytes-in                readonly                              =0
  bytes-out               readonly                              =0

/ip/hotspot/user/profile  unique=name
  name                    required
  shared-users            unlimited|1..4294967295               =1
  rate-limit              =
  session-timeout         duration
  idle-timeout            duration                              =none
+ name=default shared-users=1 rate-limit= idle-timeout=none

/ip/hotspot/active  removable
  server                  readonly
  user                    readonly
  address                 readonly
  mac-address             readonly
  uptime                  readonly

/ip/ipsec/profile  since=6.44 unique=name
  name                    required
  hash-algorithm          md5|sha1|sha256|sha384|sha512         =sha1
  enc-algorithm           list(3des|aes-128|aes-192|aes-256|blowfish|camellia-128|camellia-256|des)   =aes-128,3des
  dh-group                list(ecp256|ecp384|ecp521|modp1024|modp1536|modp2048|modp3072|modp4096|modp6144|modp768|modp8192|x25519)   =modp2048,modp1024
  lifetime                duration                              =1d
  nat-traversal           bool                                  =yes
  dpd-interval            disable-dpd|duration                  =2m
+ name=default hash-algorithm=sha1 enc-algorithm=aes-128,3des dh-group=modp2048,modp1024 lifetime=1d nat-traversal=true dpd-interval=2m

/ip/ipsec/proposal  unique=name flags
  name                    required
  auth-algorithms         list(md5|null|sha1|sha256|sha512)     =sha1
  enc-algorithms          list(3des|aes-128-cbc|aes-128-gcm|aes-192-cbc|aes-256-cbc|aes-256-gcm|null)   =aes-256-cbc,aes-192-cbc,aes-128-cbc
  lifetime                duration                              =30m
  pfs-group               none|ecp256|ecp384|ecp521|modp1024|modp1536|modp2048|modp3072|modp4096|x25519   =modp1024
+ name=default auth-algorithms=sha1 enc-algorithms=aes-256-cbc,aes-192-cbc,aes-128-cbc lifetime=30m pfs-group=modp1024 disabled=false

/ip/ipsec/peer  since=6.44 unique=name noun=ipsec_peer flags
  name                    required
  address                 network|host
  local-address           ip
  port                    1..65535
  profile                 @/ip/ipsec/profile                    =default
  exchange-mode           aggressive|base|ike2|main             =main
  passive                 bool
  send-initial-contact    bool                                  =yes

/ip/ipsec/identity  since=6.44 key=peer flags
  peer                    @/ip/ipsec/peer                       required
  auth-method             digital-signature|eap|pre-shared-key|rsa-key   =pre-shared-key
  secret                  =                                     sensitive
  generate-policy         no|port-override|port-strict          =no

/ip/ipsec/policy  ordered flags
  peer                    any|@/ip/ipsec/peer                   since=6.44
  tunnel                  bool                                  =no
  src-address             network                               =0.0.0.0/0
  dst-address             network                               =0.0.0.0/0
  protocol                all|tcp|udp|icmp|gre|l2tp|1..255      =all
  action                  discard|encrypt|none                  =encrypt
  level                   require|unique|use                    =require
  proposal                @/ip/ipsec/proposal                   =default
  sa-src-address          ip                                    until=6.44
  sa-dst-address          ip                                    until=6.44
  ph2-state               readonly                              =no-phase2   since=6.44

/ip/ipsec/active-peers  removable
  remote-address          readonly
  state                   readonly
  side                    readonly
  uptime                  readonly

/ip/ipsec/installed-sa  observed
  spi                     readonly
  src-address             readonly
  dst-address             readonly
  state                   readonly

/ipv6/settings  single
  forward                 bool                                  =yes
  accept-redirects        no|yes|yes-if-forwarding-disabled     =yes-if-forwarding-disabled
  accept-router-advertisements  no|yes|yes-if-forwarding-disabled   =yes-if-forwarding-disabled
  disable-ipv6            bool                                  =no   since=7.0

/ipv6/firewall/filter  ordered flags
  chain                   required
  action                  accept|drop|jump|log|passthrough|reject|return   =accept
  protocol
  src-address             network
  dst-address             network
  in-interface            interface-matcher
  in-interface-list       interface-matcher
  connection-state
  dst-port                ports

/ipv6/route  key=dst-address flags
  dst-address             network                               =::/0
  gateway                 list(gateway)                         required
  distance                1..255                                =1

/ppp/profile  unique=name comment
  name                    required
  local-address           ip|@/ip/pool
  remote-address          ip|@/ip/pool
  use-encryption          default|no|required|yes               =default
  only-one                default|no|yes                        =default
  change-tcp-mss          default|no|yes                        =default
  rate-limit
  dns-server              list(ip)
  session-timeout         duration
  idle-timeout            duration
  on-up                   =
  on-down                 =
+ name=default use-encryption=default only-one=default change-tcp-mss=yes
+ name=default-encryption use-encryption=yes only-one=default change-tcp-mss=yes

/ppp/active  removable
  name                    readonly
  service                 readonly
  caller-id               readonly
  address                 readonly
  uptime                  readonly

/ppp/aaa  single
  use-radius              bool                                  =no
  accounting              bool                                  =yes
  interim-update          duration                              =0s

/queue/type  unique=name
  name                    required
  kind                    bfifo|cake|fq-codel|mq-pfifo|none|pcq|pfifo|red|sfq   required
  pcq-rate                rate
  pcq-classifier          list(dst-address|dst-port|src-address|src-port)
  pfifo-limit             1..4294967295
+ name=default kind=pfifo pfifo-limit=50
+ name=default-small kind=pfifo pfifo-limit=10
+ name=ethernet-default kind=pfifo pfifo-limit=50
+ name=wireless-default kind=sfq
+ name=synchronous-default kind=red
+ name=hotspot-default kind=sfq
+ name=pcq-upload-default kind=pcq pcq-classifier=src-address pcq-rate=0
+ name=pcq-download-default kind=pcq pcq-classifier=dst-address pcq-rate=0
+ name=only-hardware-queue kind=none

/queue/tree  unique=name flags
  name                    required
  parent                  global|@/queue/tree|interface         required
  packet-mark             =
  limit-at                rate                                  =0
  max-limit               rate                                  =0
  priority                1..8                                  =8
  queue                   @/queue/type                          =default-small

/radius  flags
  service                 list(dhcp|dot1x|hotspot|ipsec|login|ppp|wireless)   =
  address                 host                                  required
  secret                  =                                     sensitive
  authentication-port     1..65535                              =1812
  accounting-port         1..65535                              =1813
  timeout                 duration                              =300ms

/routing/table  since=7.0 unique=name flags
  name                    required
  fib                     text
+ name=main disabled=false

/routing/rule  since=7.0 ordered flags
  src-address             network
  dst-address             network
  interface               interface
  routing-mark            @/routing/table
  action                  drop|lookup|lookup-only-in-table|unreachable   =lookup
  table                   @/routing/table

/routing/id  since=7.0 unique=name flags
  name                    required
  id                      ip                                    required

/routing/filter/rule  since=7.0 ordered flags
  chain                   required
  rule                    =

/routing/filter  until=7.0 ordered flags
  chain                   required
  action                  accept|discard|jump|log|passthrough|reject|return   =passthrough
  prefix                  network
  prefix-length           0..128
  set-distance            1..255
  set-bgp-local-pref      0..4294967295

/routing/ospf/instance  since=7.0 unique=name flags
  name                    required
  version                 2|3                                   =2
  router-id               main|ip|@/routing/id                  =main

/routing/ospf/instance  until=7.0 unique=name flags
  name                    required
  router-id               ip                                    =0.0.0.0
+ name=default router-id=0.0.0.0 disabled=false

/routing/ospf/area  unique=name flags
  name                    required
  instance                @/routing/ospf/instance               required
  area-id                 ip                                    =0.0.0.0
  type                    default|nssa|stub                     =default

/routing/ospf/interface-template  since=7.0 ordered flags
  interfaces              list(interface)
  networks                list(network)
  area                    @/routing/ospf/area                   required
  cost                    1..65535                              =1
  priority                0..255                                =128
  passive                 text

/routing/ospf/network  until=7.0 key=network flags
  network                 network                               required
  area                    @/routing/ospf/area                   required

/routing/ospf/neighbor  observed
  instance                readonly
  address                 readonly
  router-id               readonly
  state                   readonly

/routing/bgp/template  since=7.0 unique=name flags
  name                    required
  as                      1..4294967295
  router-id               ip|@/routing/id
  routing-table           @/routing/table
+ name=default disabled=false

/routing/bgp/connection  since=7.0 unique=name flags
  name                    required
  remote.address          network                               required
  remote.as               1..4294967295
  local.role              ebgp|ebgp-customer|ebgp-peer|ebgp-provider|ibgp|ibgp-rr|ibgp-rr-client   required
  local.address           ip
  as                      1..4294967295
  templates               @/routing/bgp/template
  router-id               ip|@/routing/id
  output.network

/routing/bgp/session  since=7.0 observed
  name                    readonly
  remote.address          readonly
  remote.as               readonly
  established             readonly
  uptime                  readonly

/routing/bgp/instance  until=7.0 unique=name flags
  name                    required
  as                      1..4294967295                         =65530
  router-id               ip                                    =0.0.0.0
+ name=default as=65530 router-id=0.0.0.0 disabled=false

/routing/bgp/peer  until=7.0 unique=name flags
  name                    required
  instance                @/routing/bgp/instance                =default
  remote-address          ip                                    required
  remote-as               1..4294967295                         required
  state                   readonly                              =idle

/routing/bgp/network  until=7.0 key=network flags
  network                 network                               required
  synchronize             bool                                  =yes
`;
