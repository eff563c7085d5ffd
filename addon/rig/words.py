"""What riggers call the parts of a body: a table of words, in any language, and what combinations of them mean.

Collected from the bone lists of public rigs and from the anatomical vocabulary of the languages riggers use. Nothing
here knows a whole rig: a rig nobody has seen is read word by word.
"""

from __future__ import annotations

WORDS: dict[str, str] = {
    "left": "left l lft lf lt links linke linker linkes gauche izquierda izquierdo izq esquerda esquerdo esq sinistra "
    "sinistro sx lewa lewy lewe vanster hidari 左 왼쪽 왼 좌 лев левая левый левое левой левого л",
    "right": "right r rgt rt rf rechts rechte rechter rechtes droite droit derecha derecho der direita direito dir "
    "destra destro dx prawa prawy prawe hoger migi 右 오른쪽 오른 우 прав правая правый правое правой правого п",
    "upper": "upper up upr oben ober superior superieur boven gorna 上 위 верх верхняя верхний верхнее",
    "lower": "lower low lo lwr fore unter inferior inferieur avant onder dolna 下 아래 низ нижняя нижний нижнее",
    "arm": "arm arms brazo bras braccio braco ramie ude kol 腕 臂 胳膊 팔 рука руки",
    "leg": "leg legs bein beine pierna jambe gamba perna noga asi ashi bacak been 足 腿 다리 нога ноги",
    "upper_arm": "upperarm uparm bicep biceps humerus shldr oberarm bovenarm 上腕 上臂 大臂 위팔 상완 плечо",
    "forearm": "forearm foarm forarm lowerarm lowarm loarm antebrazo avantbras avambraccio antebraco unterarm onderarm "
    "radius ulna przedramie 前腕 前臂 小臂 下臂 아래팔 전완 предплечье",
    "shoulder": "shoulder shoulders shol schulter hombro epaule spalla ombro omuz bark kata 肩 어깨 плечи",
    "clavicle": "clavicle clavicles clav clavic collar collarbone cbone schluesselbein schlusselbein clavicula "
    "clavicule clavicola sako sakotsu obojczyk scapula scap 鎖骨 锁骨 쇄골 ключица",
    "elbow": "elbow elbows elb ellbogen ellenbogen codo coude gomito cotovelo lokiec hiji dirsek ひじ 肘 팔꿈치 локоть",
    "wrist": "wrist wrists handgelenk muneca poignet polso punho nadgarstek tekubi 手首 手腕 손목 запястье",
    "hand": "hand hands mano main mao dlon te 手 手掌 손 кисть ладонь",
    "palm": "palm palms palma",
    "thigh": "thigh thighs upperleg upleg femur oberschenkel bovenbeen muslo cuisse coscia coxa udo momo "
    "太もも 太腿 大腿 もも 허벅지 бедро",
    "knee": "knee knees knie rodilla genou ginocchio joelho kolano hiza ひざ 膝 膝盖 무릎 колено",
    "shin": "shin shins calf calves lowerleg lowleg loleg tibia fibula crus unterschenkel wade onderbeen espinilla "
    "pantorrilla mollet polpaccio stinco panturrilha canela lydka sune すね 脛 小腿 종아리 голень",
    "ankle": "ankle ankles knochel knoechel tobillo cheville caviglia tornozelo kostka ashikubi 足首 脚踝 발목 лодыжка",
    "foot": "foot feet fuss fusse pie pied piede pe stopa voet fot ayak 脚 발 стопа ступня",
    "toe": "toe toes toebase forefoot zeh zehe zehen orteil orteils punta palec tsumasaki teen つま先 足先 爪先 足指 "
    "脚趾 脚尖 발가락 носок",
    "ball": "ball balls",
    "hip": "hip hips hipbone hufte huefte hanche cadera anca quadril biodra heup kalca koshi kosi センター 腰 臀 "
    "엉덩이 бедра",
    "pelvis": "pelvis pelwas becken bassin bacino bacia miednica bekken 骨盤 骨盆 盆骨 골반 таз",
    "lower_body": "lowerbody lowertorso 下半身 하반신",
    "upper_body": "upperbody uppertorso 上半身 상반신",
    "center": "center centre cog midhip hipcenter 中心 중심 центр",
    "spine": "spine spines spina back backbone lowerback upperback vertebra vertebrae lumbar thoracic wirbelsaule dos "
    "wirbelsaeule rucken ruecken colonne columna espalda schiena coluna kregoslup rug sebo sebone 脊柱 脊椎 背骨 背 "
    "척추 허리 позвоночник спина",
    "chest": "chest upperchest sternum ribcage ribs rib thorax bust brust pecho poitrine petto torace peito klatka "
    "borst mune 胸 胸部 가슴 грудь",
    "abdomen": "abdomen stomach tummy belly bauch ventre vientre addome brzuch buik hara 腹 배 живот",
    "waist": "waist taille cintura vita talia 腰部",
    "torso": "torso trunk body rumpf tronco tronc tulow 体 몸통 туловище торс корпус",
    "neck": "neck nape cervical hals nacken cuello cou collo pescoco szyja nek boyun kubi 首 颈 頸 脖子 목 шея",
    "head": "head skull cranium kopf cabeza tete testa cabeca glowa hoofd atama kao 頭 头 머리 голова",
    "thumb": "thumb thumbs daumen pulgar pouce pollice polegar kciuk duim oyayubi 親指 拇指 大拇指 엄지",
    "index": "index indexfinger pointer forefinger zeigefinger indice wijsvinger hitosashi "
    "人指 人差指 人差し指 食指 검지",
    "middle": "middle mid middlefinger mittelfinger medio majeur corazon nakayubi 中指 중지",
    "ring": "ring ringfinger anular annulaire anulare kusuriyubi 薬指 无名指 無名指 약지",
    "pinky": "pinky pinkie pink little littlefinger small menique auriculaire mignolo minimo koyubi 小指 소지 мизинец",
    "finger": "finger fingers fing fngr digit digits dedo dedos doigt doigts dito dita vinger yubi 指 手指 "
    "손가락 палец",
    "metacarpal": "metacarpal metacarpals metacarp carpal carpals inhand 掌骨",
    "eye": "eye eyes eyeball auge ojo oeil occhio olho oko 目 眼 眼球 눈 глаз",
    "jaw": "jaw mandible jawbone kiefer mandibula machoire mascella szczeka 顎 あご 下巴 턱 челюсть",
    "root": "root trans reference origin master global world trajectory traj placement motion 全ての親 루트 корень",
    "hub": "hub",
    # Names with one of these speak of something beside the anatomy.
    "twist": "twist twists roll rolls 捩 捩れ 捩り",
    "end": "end ends nub tip tips leaf site endsite effector terminal 先 末端 끝",
    "helper": "ik fk ikfk pole poles target targets tgt ctrl ctrls ctl cntrl control controls controller con mch org "
    "tweak tweaks helper helpers hlp aux adjust corr corrective correction muscle jiggle dyn dynamic phys physics "
    "sim collider col hitbox prop props weapon slot socket attach attachment mount item holder grip gripper gun null "
    "dummy locator loc handle offset ofs driver drv pin parent space follow aim lookat look pivot proxy vis wgt widget "
    "volume bulge fix support supp cancel shadow swing str mechanic gizmo snap switch rot scale extra fake copy dup "
    "share guide キャンセル グルーブ 補助 ダミー 親 操作",
    "other": "hair hairs bang bangs ponytail braid skirt cloth clothes dress cape cloak coat sleeve sleeves scarf tie "
    "belt strap ribbon bow tail wing wings fin horn horns antenna ear ears beard moustache mustache breast breasts "
    "boob boobs nipple butt buttock buttocks glute glutes bum cheek cheeks lip lips mouth tongue teeth tooth nose "
    "nostril brow brows eyebrow eyebrows lid lids eyelid eyelids eyelash lash blink pupil iris forehead temple chin "
    "masseter caninus levator oris risorius temporalis orbicularis oculi backpack bag pouch holster armor armour "
    "pad pads sword shield hat helmet hood glasses crotch pectoral pec metatarsal metatarsals heel heels sole "
    "nail nails claw 髪 髮 头发 スカート 袖 尻尾 耳 乳 舌 歯 眉 口 裙 머리카락 치마 волос хвост ухо крыло",
    "noise": "face facial bone bones joint joints jnt jt def deform bind skn skin sk rig char character skeleton skel "
    "base armature bn ctr bip biped valve mixamorig mixamo actor avatar human humanoid cc daz stretch bend ex top "
    "proximal intermediate distal prox inter dist part segment seg de da do del la le di 骨 ボーン 본 뼈 кость",
}
"""Meaning to the words that carry it, lower case, without accents."""

ANATOMY: tuple[tuple[frozenset[str], dict[str, float]], ...] = tuple(
    (frozenset(meanings.split()), parts)
    for meanings, parts in (
        ("eye", {"eye": 1.0}),
        ("jaw", {"jaw": 1.0}),
        ("foot thumb", {"toe": 0.8}),
        ("foot finger", {"toe": 0.8}),
        ("leg finger", {"toe": 0.8}),
        ("toe", {"toe": 1.0}),
        ("ball", {"toe": 0.9}),
        ("thumb", {"thumb": 1.0}),
        ("metacarpal", {"metacarpal": 1.0}),
        ("index", {"index": 1.0}),
        ("pinky", {"pinky": 1.0}),
        ("ring", {"ring": 1.0}),
        ("hand middle", {"middle": 1.0}),
        ("finger middle", {"middle": 1.0}),
        ("finger", {"finger": 1.0}),
        ("clavicle", {"clavicle": 1.0}),
        ("upper_arm", {"upper_arm": 1.0}),
        ("upper arm", {"upper_arm": 1.0}),
        ("forearm", {"forearm": 1.0}),
        ("lower arm", {"forearm": 1.0}),
        ("elbow", {"elbow": 1.0}),
        ("wrist", {"wrist": 1.0}),
        ("hand", {"hand": 1.0}),
        ("palm", {"palm": 1.0}),
        ("shoulder", {"shoulder": 1.0}),
        ("upper leg", {"thigh": 1.0}),
        ("lower leg", {"shin": 1.0}),
        ("thigh", {"thigh": 1.0}),
        ("knee", {"knee": 1.0}),
        ("shin", {"shin": 1.0}),
        ("ankle", {"ankle": 1.0}),
        ("foot", {"foot": 1.0}),
        ("arm", {"arm": 1.0}),
        ("leg", {"leg": 1.0}),
        ("lower_body", {"hips": 0.8}),
        ("upper_body", {"spine": 1.0}),
        ("lower torso", {"hips": 0.85, "spine": 0.4}),
        ("hip", {"hips": 1.0}),
        ("pelvis", {"hips": 1.0}),
        ("neck", {"neck": 1.0, "head": 0.1}),
        ("head", {"head": 1.0}),
        ("spine", {"spine": 1.0}),
        ("chest", {"spine": 1.0}),
        ("abdomen", {"spine": 1.0}),
        ("waist", {"spine": 0.7, "hips": 0.5}),
        ("torso", {"spine": 0.7, "hips": 0.35}),
        ("center", {"hips": 0.8, "root": 0.4}),
        ("hub", {"hips": 0.3, "spine": 0.3, "head": 0.2}),
        ("root", {"root": 1.0, "hips": 0.4}),
        ("middle", {"middle": 1.0}),
    )
)
"""Meanings that occur together in a name, to the parts it may stand for; the first line that fits counts.

`elbow wrist knee ankle palm shoulder arm leg` are settled by what else the rig names: see `names.in_context`.
"""
