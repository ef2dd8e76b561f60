# DNS servers, remote requests and a local name.
# run-on: all
/ip dns set servers=8.8.8.8,1.1.1.1 allow-remote-requests=yes
/ip dns static add name=nas.lan address=192.168.88.12 ttl=5m
:if ([:resolve nas.lan] != 192.168.88.12) do={ :error "nas.lan is elsewhere" }
/ip dns cache flush
#! check ([/ip dns get servers] = "8.8.8.8,1.1.1.1")
#! check ([:resolve "nas.lan"] = 192.168.88.12)
#! refuse /ip dns set servers=not-an-ip -> invalid value for argument servers
#! refuse /ip dns static add name=x.lan address=192.168.88.256 -> invalid value for argument address
#! refuse :put [:resolve nosuch.lan] -> failure: dns name does not exist
