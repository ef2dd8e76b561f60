# A single area on the LAN.
# run-on: v7
/routing ospf instance add name=core version=2 router-id=10.0.0.1
/routing ospf area add name=backbone instance=core area-id=0.0.0.0
/routing ospf interface-template add area=backbone networks=192.168.88.1/24 cost=10
#! check ([/routing ospf interface-template get 0 networks] = "192.168.88.0/24")
#! refuse /routing ospf area add name=a2 instance=nosuch -> input does not match any value of instance
#! refuse /routing ospf instance add name=i2 router-id=10.0.0.999 -> /invalid value for argument router-id|input does not match any value of router-id/
