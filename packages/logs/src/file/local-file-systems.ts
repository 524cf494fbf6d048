/**
 * Types of file systems on disks of this machine or in its memory, as statfs(2) returns them: ext2 to ext4, XFS, Btrfs,
 * tmpfs, overlayfs, ZFS and F2FS. Every new, renamed or deleted entry changes the time of its directory, and a call
 * returns at once or when the disk does. Others, of a network or of a program, may report any time, and may hang.
 */
export const LOCAL_FILE_SYSTEMS: ReadonlySet<number> = new Set([
  0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0x2fc12fc1, 0xf2f52010,
]);
