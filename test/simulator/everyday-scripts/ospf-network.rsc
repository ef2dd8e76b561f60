# The same in the words of version 6.
# run-on: v6
/routing ospf area add name=branch instance=default area-id=0.0.0.7
/routing ospf network add network=192.168.88.1/24 area=branch
#! check ([/routing ospf network get 0 network] = "192.168.88.0/24")
#! refuse /routing ospf network add network=192.168.88.0/99 area=branch -> invalid value for argument network
