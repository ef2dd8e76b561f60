# A WireGuard tunnel for a telephone.
# run-on: v7
/interface wireguard add name=wg-home listen-port=51820
/ip address add address=10.9.0.1/24 interface=wg-home
/interface wireguard peers add interface=wg-home public-key="hBPAFaeBdg+NydA398gs3IiXPM8mJR/l7BMbdDYWKXE=" allowed-address=10.9.0.2/32 comment=phone
:put [:len [/interface wireguard get wg-home public-key]]
#! output 44
#! check ([/interface wireguard peers get [find comment=phone] allowed-address] = "10.9.0.2/32")
#! refuse /interface wireguard peers add interface=wg-home public-key=short allowed-address=10.9.0.3/32 -> invalid value for argument public-key
#! refuse /interface wireguard add name=wg2 listen-port=99999 -> value of listen-port out of range (1..65535)
#! refuse /interface wireguard peers add interface=wg-home public-key="hBPAFaeBdg+NydA398gs3IiXPM8mJR/l7BMbdDYWKXE=" allowed-address=10.9.0.999/32 -> invalid value for argument allowed-address
