# A session with the provider.
# run-on: v7
/routing bgp connection add name=provider remote.address=203.0.113.1 remote.as=64500 as=64501 local.role=ebgp templates=default router-id=203.0.113.2
/routing filter rule add chain=from-provider rule="if (dst == 0.0.0.0/0) { accept } else { reject }"
#! check ([/routing bgp connection get provider remote.as] = 64500)
#! refuse /routing bgp connection add name=p2 remote.address=203.0.113.1 local.role=friend -> input does not match any value of local.role
#! refuse /routing bgp connection add name=p2 local.role=ebgp -> missing value(s) of argument(s) remote.address
