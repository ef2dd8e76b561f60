/** Kinds of interfaces beyond Ethernet, bridges and VLANs: each is an item of `/interface` of its own type. */
export const INTERFACE_TABLES = `
/interface/bonding
  name                    required
  mtu                     auto|68..65535                        =1500
  slaves                  list(interface)                       required
  mode                    802.3ad|active-backup|balance-alb|balance-rr|balance-tlb|balance-xor|broadcast   =balance-rr
  primary                 none|interface                        =none
  link-monitoring         arp|mii|none                          =mii
  arp-ip-targets          list(ip)                              =
  mii-interval            duration                              =100ms
  transmit-hash-policy    encap-2-and-3|encap-3-and-4|layer-2|layer-2-and-3|layer-3-and-4   =layer-2
  lacp-rate               1sec|30secs                           =30secs

/interface/vrrp
  name                    required
  interface               interface                             required
  vrid                    1..255                                =1
  priority                1..254                                =100
  interval                duration                              =1s
  version                 2|3                                   =3
  authentication          ah|none|simple                        =none
  password                =                                     sensitive
  preemption-mode         bool                                  =yes
  on-master               =
  on-backup               =

/interface/eoip
  name                    required
  mtu                     auto|68..65535                        =auto
  remote-address          host                                  required
  local-address           ip                                    =0.0.0.0
  tunnel-id               0..65535                              required
  ipsec-secret            =                                     sensitive
  keepalive               =10s,10

/interface/gre
  name                    required
  mtu                     auto|68..65535                        =auto
  remote-address          host                                  required
  local-address           ip                                    =0.0.0.0
  ipsec-secret            =                                     sensitive
  keepalive               =10s,10

/interface/ipip
  name                    required
  mtu                     auto|68..65535                        =auto
  remote-address          host                                  required
  local-address           ip                                    =0.0.0.0
  ipsec-secret            =                                     sensitive

/interface/pppoe-client
  name                    required
  interface               interface                             required
  user                    =
  password                =                                     sensitive
  service-name            =
  profile                 @/ppp/profile                         =default
  add-default-route       bool                                  =no
  default-route-distance  1..255                                =1
  use-peer-dns            bool                                  =no
  dial-on-demand          bool                                  =no
  max-mtu                 auto|576..65535                       =auto
  max-mru                 auto|576..65535                       =auto
  keepalive-timeout       disabled|1..4294967295                =10

/interface/l2tp-client
  name                    required
  connect-to              host                                  required
  user                    required
  password                =                                     sensitive
  profile                 @/ppp/profile                         =default-encryption
  use-ipsec               bool                                  =no
  ipsec-secret            =                                     sensitive
  add-default-route       bool                                  =no

/interface/sstp-client
  name                    required
  connect-to              required
  user                    required
  password                =                                     sensitive
  profile                 @/ppp/profile                         =default-encryption
  certificate             =none
  verify-server-certificate   bool                              =no
  add-default-route       bool                                  =no

/interface/ovpn-client
  name                    required
  connect-to              host                                  required
  port                    1..65535                              =1194
  mode                    ethernet|'ip'                         =ip
  user                    required
  password                =                                     sensitive
  profile                 @/ppp/profile                         =default
  certificate             =none
  add-default-route       bool                                  =no

/interface/vxlan  since=7.0
  name                    required
  mtu                     auto|68..65535                        =1500
  vni                     1..16777216                           required
  port                    1..65535                              =8472

/interface/veth  since=7.4
  name                    required
  address                 list(prefix)                          required
  gateway                 ip

/interface/wireguard  since=7.0
  name                    required
  mtu                     68..65535                             =1420
  listen-port             1..65535
  private-key             key                                   sensitive
  public-key              readonly

/interface/wireless  until=7.13
  name                    required
  mode                    alignment-only|ap-bridge|bridge|nstreme-dual-slave|station|station-bridge|station-pseudobridge|station-wds|wds-slave   =station
  ssid                    =MikroTik
  band                    2ghz-b|2ghz-b/g|2ghz-b/g/n|2ghz-onlyg|2ghz-onlyn|5ghz-a|5ghz-a/n|5ghz-a/n/ac|5ghz-onlyac|5ghz-onlyn   =2ghz-b/g/n
  frequency               auto|1..65535                         =auto
  channel-width           10mhz|20/40mhz-Ce|20/40mhz-XX|20/40mhz-eC|20/40/80mhz-XXXX|20mhz|40mhz-turbo|5mhz   =20mhz
  security-profile        @/interface/wireless/security-profiles   =default
  country                 =etsi
  tx-power                -30..40
  hide-ssid               bool                                  =no

/interface/wifi  since=7.13
  name                    required
  configuration           @/interface/wifi/configuration
  configuration.ssid
  configuration.mode      ap|station|station-bridge|station-pseudobridge
  configuration.country
  security                @/interface/wifi/security
  security.authentication-types   list(owe|wpa-eap|wpa-psk|wpa2-eap|wpa2-psk|wpa3-eap|wpa3-psk)
  security.passphrase     sensitive
  channel                 @/interface/wifi/channel
  channel.frequency       list(1..65535)
  channel.width           20/40/80+80mhz|20/40/80/160mhz|20/40/80mhz|20/40mhz|20/40mhz-Ce|20/40mhz-eC|20mhz

/interface/lte
  name                    required
  apn-profiles            =default
  network-mode            =
  pin                     =                                     sensitive
  allow-roaming           bool                                  =yes
`;

/** What belongs to those interfaces. */
export const INTERFACE_PARTS_TABLES = `
/interface/bridge/vlan  key=bridge flags
  bridge                  interface                             required
  vlan-ids                list(1..4094)                         required
  tagged                  list(interface)                       =
  untagged                list(interface)                       =

/interface/wireguard/peers  since=7.0 noun=wireguard_peer flags
  name                    since=7.15
  interface               interface                             required
  public-key              key                                   required
  preshared-key           key                                   sensitive
  endpoint-address        host                                  =
  endpoint-port           0..65535                              =0
  allowed-address         list(network)                         required
  persistent-keepalive    duration
  current-endpoint-address  readonly
  current-endpoint-port   readonly
  rx                      readonly                              =0
  tx                      readonly                              =0
  last-handshake          readonly

/interface/wireless/security-profiles  until=7.13 unique=name comment
  name                    required
  mode                    dynamic-keys|none|static-keys-optional|static-keys-required   =none
  authentication-types    list(wpa-eap|wpa-psk|wpa2-eap|wpa2-psk)  =
  wpa-pre-shared-key      =                                     sensitive
  wpa2-pre-shared-key     =                                     sensitive
+ name=default mode=none authentication-types= wpa-pre-shared-key= wpa2-pre-shared-key=

/interface/wireless/access-list  until=7.13 ordered flags
  mac-address             mac
  interface               any|interface                         =any
  signal-range            =-120..120
  authentication          bool                                  =yes
  forwarding              bool                                  =yes

/interface/wireless/registration-table  until=7.13 removable
  interface               readonly
  mac-address             readonly
  ap                      readonly
  uptime                  readonly
  signal-strength         readonly
  tx-ccq                  readonly

/interface/wifi/configuration  since=7.13 unique=name flags
  name                    required
  ssid
  mode                    ap|station|station-bridge|station-pseudobridge
  country
  security                @/interface/wifi/security
  channel                 @/interface/wifi/channel
  hide-ssid               bool

/interface/wifi/security  since=7.13 unique=name flags
  name                    required
  authentication-types    list(owe|wpa-eap|wpa-psk|wpa2-eap|wpa2-psk|wpa3-eap|wpa3-psk)
  passphrase              sensitive
  wps                     disable|push-button

/interface/wifi/channel  since=7.13 unique=name flags
  name                    required
  band                    2ghz-ax|2ghz-g|2ghz-n|5ghz-a|5ghz-ac|5ghz-ax|5ghz-n
  frequency               list(1..65535)
  width                   20/40/80+80mhz|20/40/80/160mhz|20/40/80mhz|20/40mhz|20/40mhz-Ce|20/40mhz-eC|20mhz

/interface/wifi/access-list  since=7.13 ordered flags
  mac-address             mac
  interface               any|interface
  signal-range
  action                  accept|query-radius|reject

/interface/wifi/registration-table  since=7.13 removable
  interface               readonly
  mac-address             readonly
  ssid                    readonly
  uptime                  readonly
  signal                  readonly

/interface/lte/apn  unique=name comment
  name                    required
  apn                     =internet
  authentication          chap|none|pap                         =none
  user                    =
  password                =                                     sensitive
  default-route-distance  1..255                                =2
+ name=default apn=internet authentication=none user= password= default-route-distance=2

/interface/l2tp-server/server  single
  enabled                 bool                                  =no
  default-profile         @/ppp/profile                         =default-encryption
  authentication          list(chap|mschap1|mschap2|pap)        =pap,chap,mschap1,mschap2
  use-ipsec               no|required|yes                       =no
  ipsec-secret            =                                     sensitive
  max-mtu                 576..65535                            =1450
  max-mru                 576..65535                            =1450

/interface/pptp-server/server  single
  enabled                 bool                                  =no
  default-profile         @/ppp/profile                         =default-encryption
  authentication          list(chap|mschap1|mschap2|pap)        =mschap1,mschap2

/interface/sstp-server/server  single
  enabled                 bool                                  =no
  port                    1..65535                              =443
  default-profile         @/ppp/profile                         =default
  certificate             =none

/interface/pppoe-server/server  unique=service-name key=service-name flags
  service-name            =
  interface               interface                             required
  default-profile         @/ppp/profile                         =default
  one-session-per-host    bool                                  =no
  max-sessions            unlimited|1..65535                    =unlimited
`;
