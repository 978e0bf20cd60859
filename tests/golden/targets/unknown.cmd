hbmplan targets spire
