import bpy, pytest, depths, time
from troupe.addon import demos
ALL=[(f,n) for f in ("reach","grasp","carry","plan","look","tidy","serve","queue","play") for n in demos.demos(f)]
@pytest.mark.parametrize("f,n", ALL)
def test_depth(f,n):
    t=time.time()
    demos.demos(f)[n].build(bpy.context)
    b=time.time()-t
    d=depths.deepest(0.5)
    with open("/tmp/depths.txt","a") as o: o.write(f"{f} {n} build {b:.0f} s, {bpy.context.scene.frame_end} frames: { {k:round(1000*v,2) for k,v in d.items()} }\n")
