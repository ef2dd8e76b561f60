# A guest network in the words of the new wireless menus.
# run-on: v7
/interface wifi security add name=guest authentication-types=wpa2-psk,wpa3-psk passphrase="long enough"
/interface wifi configuration add name=guest ssid="Guests" security=guest country=Latvia mode=ap
/interface wifi add name=wifi-guest configuration=guest
#! check ([/interface wifi configuration get guest ssid] = "Guests")
#! refuse /interface wifi security add name=g2 authentication-types=wep -> input does not match any value of authentication-types
#! refuse /interface wifi add name=w2 configuration=nosuch -> input does not match any value of configuration
