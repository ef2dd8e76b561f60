# A guest network in the words of the old wireless menus.
# run-on: v6
/interface wireless security-profiles add name=guest mode=dynamic-keys authentication-types=wpa2-psk wpa2-pre-shared-key="long enough"
/interface wireless add name=wlan-guest mode=ap-bridge ssid="Guests" security-profile=guest
#! check ([/interface wireless get wlan-guest ssid] = "Guests")
#! refuse /interface wireless add name=w2 mode=party -> input does not match any value of mode
#! refuse /interface wireless add name=w2 security-profile=nosuch -> input does not match any value of security-profile
