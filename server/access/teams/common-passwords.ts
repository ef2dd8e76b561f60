/**
 * What people choose most, from lists of passwords that were stolen and published, as `wordOf` in `unfit-password.ts` reads a password: in
 * lower case, with letters for the digits and signs that stand for them, and without what is added before and behind. Repetitions and rows of
 * keys are not here: a rule finds them.
 */
export const COMMON_PASSWORDS: ReadonlySet<string> = new Set(
  `
  abcd access account admin administrator adminadmin adobe agent alaska alexander alexandra alexis amanda america american anderson andrea andrew
  angel angela angels animal anthony apollo apple apples arsenal arthur asdf asdfasdf ashley asshole august austin autumn
  babygirl babylon badboy bailey banana barcelona barney baseball basketball batman beautiful bigdaddy bigdog blabla blahblah blessed blink blue
  bonjour booboo boomer boston brandon brandy brazil brooklyn broncos bubbles buddy bulldog business buster butterfly
  caballo calendar california camaro camera canada cancel captain carlos carolina caroline casper cassie chameleon champion changeit changeme
  charles charlie charlotte cheese chelsea chester chicago chicken chocolate chris christian christina christine christmas chrysler cisco
  ciscocisco claudia coffee college columbia compaq computer computers connect contrasena control cookie cooper corvette cowboy cowboys creative
  crystal customer
  dallas daniel danielle database david december default defaultpassword demo denise dennis diamond dilbert director discover doctor dolphin
  dolphins domain donald dragon dragons dreamer dreams
  eagles einstein elephant elizabeth emerald enable enter enterprise eternity everton example explorer
  facebook faith falcon familia family fashion february ferrari fireball firebird firefox fireman fishing florida flower flowers fluffy football
  forever frankfurt freedom friday friend friends fuckme fuckoff fuckyou function future
  galaxy gandalf garfield gateway general genesis george getmein gfhjkm ginger godzilla goldfish golfer google grandma guest guitar gunner
  hallo hallohallo hammer hannah happiness happy harley heather heaven hello hellohello helpme hockey hollywood honda horses hotmail hunter
  iceman iloveu iloveyou iloveyouu infinity install internet ireland isabella
  jackass jackson jaguar january jasmine jasper jennifer jeremy jessica jesus jesuschrist johnny johnson jonathan jordan joseph joshua juventus
  junior justice justin
  karate katherine kawasaki killer kimberly kingdom kristina
  ladies lakers lalala laserjet lauren legend leonardo letmein letmeinnow liberty lifehack linkedin liverpool location login lollipop london
  london love loveme lovely lovelove lover loveyou lucky
  madison madrid maggie manager manchester marina marine marlboro martin master masterkey matrix matthew maverick maxwell mercedes merlin
  michael michelle mickey microsoft midnight mikrotik miracle monday money monitor monkey monster montana morgan mother mountain mustang mynoob
  mypassword myspace
  naruto nascar natalie natasha nathan network newpassword newyork nicholas nicole nintendo nirvana nobody nothing november
  ocean october office oliver operator orange outlook
  packard pakistan panther paradise parola paramor passord passphrase passpass passport passw passwort password passwordpassword passwords pass
  patricia patrick peaches peanut pepper philips phoenix photoshop pickle picture platinum player playboy please pokemon porsche portugal
  postgres power precious princess princesa private purple pussy
  qazwsx qazwsxedc qwert qwerty qwertyqwerty qwertz
  rachel raiders rainbow ranger rangers raspberry realmadrid rebecca redskins remember richard robert rockstar rocky ronaldo root rootroot router
  routerboard routeros russia ruslan
  sabrina samantha sammy samsung samuel sandra saturday scarface schalke school scooter scorpion scotland secret secrets secure security senha
  september serenity server service setup shadow shannon sharon sheffield shelby sierra silver simpsons simpson skywalker slayer slipknot smokey
  snickers snoopy soccer solutions something sophie spiderman spring stalker standard starfish startrek starwars steelers stephanie steven summer
  sunday sunflower sunshine super superadmin superman superstar superuser support susana switch sydney sysadmin system
  tamara taylor teacher technology telecom temp temporary tennis teresa test tester testing testpassword testtest thomas thunder tigers tigger
  tinkerbell tintin titanic toyota travel trinity trustno truelove tucker turtle twitter
  ubnt ubiquiti unknown user username
  vanessa veronica victoria victory vincent viking vikings virginia
  warcraft warrior washington wednesday welcome welcomehome werder whatever william williams windows winner winston winter wireless wizard
  wolverine wolfgang wordpass
  xavier yamaha yankees yellow yourname yourpassword
  zaqwsx zaqxsw zeppelin zxcvbn zxcvbnm
  `.match(/\S+/g),
);

/** Those of digits, or with digits among their letters, whole. */
export const COMMON_MIXTURES: ReadonlySet<string> = new Set(
  `
  11223344 1122334455 112233445566 22446688 13579246 135792468 1357908642 246813579 2468101214 14725836 147258369 14789632 147896325 15975346
  159753456 159357258 159951159 741852963 789456123 78945612 963852741 987456321 98745632 32165498 321654987 36925814 369258147 456789123
  14531453 12345687 123456788 1234567899 12341235 102030405 1020304050 10203040 100200300 01012000 01011980 01011990 11111112
  1q2w3e4r 1q2w3e4r5t 1q2w3e4r5t6y 1qaz2wsx3edc q1w2e3r4 q1w2e3r4t5 q1w2e3r4t5y6 zaq12wsx zaq1xsw2 zaq1zaq1 qaz123wsx 1a2b3c4d 1a2s3d4f
  a1b2c3d4 a1s2d3f4 abc123abc abcd123456e abc12345d 123abc456 12qwaszx 1qazxsw2 1qaz0okm 3edc4rfv5 p0o9i8u7 0p9o8i7u r2d2c3po
  `.match(/\S+/g),
);
