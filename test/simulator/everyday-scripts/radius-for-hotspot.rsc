# Ask a RADIUS server.
# run-on: all
/radius add service=hotspot,login address=192.168.88.12 secret=topsecret timeout=1s
/ppp aaa set use-radius=yes
#! check ([/radius get 0 service] = "hotspot,login")
#! refuse /radius add service=coffee address=192.168.88.12 -> input does not match any value of service
#! refuse /radius add service=login address=192.168.88.12 authentication-port=0 -> value of authentication-port out of range (1..65535)
