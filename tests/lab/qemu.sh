# The kernel of Debian 13 under qemu, emulated instruction by instruction, on the
# host's own file system. Sourced by vm.sh, which calls these.
# shellcheck shell=bash disable=SC2034,SC2154 # names of vm.sh

# shellcheck source-path=SCRIPTDIR
. "${top_srcdir:?}/tests/lab/debian.sh"

qemu_memory=3G
qemu_patience=4
qemu_suite=trixie
qemu_kernel= # the directory with vmlinuz and initrd

qemu_available() {
    local need
    for need in qemu-system-x86_64:qemu-system-x86 busybox:busybox-static xz:xz-utils \
        readelf:binutils dpkg:dpkg apt-get:apt; do
        vm_why="there is no ${need%:*} (Debian: ${need#*:})"
        command -v "${need%:*}" >/dev/null || return 1
    done
    vm_why="busybox is not static (Debian: busybox-static)"
    [[ $(readelf -l "$(command -v busybox)") != *INTERP* ]] || return 1
    debian_once "linux-$qemu_suite" qemu_make_kernel
    vm_why=$debian_why
    qemu_kernel=$debian_dir
    [ -z "$vm_why" ]
}

# The kernel, and a file system that does no more than to change to the host's.
qemu_make_kernel() ( # DIR
    cd "$1" && qemu_fetch && qemu_modules && qemu_init >ird/init && chmod 755 ird/init &&
        (cd ird && find . | busybox cpio -o -H newc) | gzip -1 >initrd &&
        cp package/boot/vmlinuz-* vmlinuz && rm -rf package ird modules ./*.deb
)

qemu_fetch() {
    local image
    image=$(debian_apt "$qemu_suite" apt-cache depends linux-image-amd64 |
        sed -n 's/.*Depends: \(linux-image-[0-9].*\)/\1/p')
    [ -n "$image" ] && debian_apt "$qemu_suite" apt-get download "$image" && dpkg -x ./*.deb package
}

qemu_modules() {
    local module
    mkdir -p ird/{bin,dev,proc,newroot,modules} && cp "$(command -v busybox)" ird/bin/busybox || return
    : >modules
    for module in 9p 9pnet_virtio virtio_pci virtio_blk ext4; do
        qemu_module "$module" || return
    done
}

qemu_init() {
    cat <<END
#!/bin/busybox sh
b=/bin/busybox
\$b mount -t proc proc /proc
for m in $(tr '\n' ' ' <modules); do \$b insmod /modules/\$m.ko; done
\$b mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144,cache=loose host /newroot
for word in \$(\$b cat /proc/cmdline); do
    case \$word in lab=*) init=\${word#lab=} ;; esac
done
\$b umount /proc
exec \$b switch_root /newroot "\$init"
END
}

# qemu_module NAME: with what it needs before it; none where it is built in
qemu_module() {
    local file need
    ! grep -qx "$1" modules || return 0
    file=$(find package/usr/lib/modules package/lib/modules -name "$1.ko*" 2>/dev/null | head -n 1)
    [ -n "$file" ] || return 0
    case $file in
    *.xz) xz -dc "$file" >"ird/modules/$1.ko" ;;
    *) cp "$file" "ird/modules/$1.ko" ;;
    esac || return
    for need in $(tr '\0' '\n' <"ird/modules/$1.ko" | sed -n 's/^depends=//p' | tr ', ' '  '); do
        qemu_module "${need//-/_}" || return
    done
    echo "$1" >>modules
}

qemu_mount_box() {
    echo "mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144,cache=none box run/box"
}

# thread=single: with a thread for each CPU, qemu 7.2 keeps translations of text
# that the kernel has patched meanwhile, as it does when the first cpuset is made:
# mkdir and rmdir of a cgroup, over and over, were the end ("Oops: int3") of two
# guests of two within seconds, and 12,000 times with one thread of none.
# no_timer_check: on a busy host the emulator's ticks come too late for a kernel
# that counts them while it boots, and panics if they are few.
qemu_command() {
    local share=security_model=none,multidevs=remap disk
    for disk in a b; do truncate -s 512M "$vm_box/disk.$disk"; done
    printf '%q ' exec qemu-system-x86_64 -accel tcg,thread=single -machine q35 -m "$qemu_memory" \
        -smp 2 -nographic -no-reboot -nic none \
        -kernel "$qemu_kernel/vmlinuz" -initrd "$qemu_kernel/initrd" \
        -append "console=ttyS0 quiet panic=-1 psi=1 no_timer_check lab=$vm_box/init" \
        -virtfs "local,path=/,mount_tag=host,$share" \
        -virtfs "local,path=$vm_box,mount_tag=box,$share" \
        -drive "file=$vm_box/disk.a,format=raw,if=virtio" \
        -drive "file=$vm_box/disk.b,format=raw,if=virtio"
}
