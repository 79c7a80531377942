# PFR_CHECK_LIBCGROUP: for the cgroups of 'profres run' on cgroup v1. Without it, as on
# RHEL 9, they are made with mkdir, which measures the same.
AC_DEFUN([PFR_CHECK_LIBCGROUP],
[AC_ARG_WITH([libcgroup],
  [AS_HELP_STRING([--with-libcgroup=auto|yes|no],
    [whether 'profres run' makes cgroups of v1 with libcgroup @<:@auto@:>@])],
  [], [with_libcgroup=auto])
have_libcgroup=no
libcgroup_summary="no (--without-libcgroup): cgroups are made with mkdir"
AS_CASE([$with_libcgroup], [auto|yes],
  [PKG_CHECK_MODULES([CGROUP], [libcgroup >= 0.41],
    [have_libcgroup=yes
     libcgroup_summary="$($PKG_CONFIG --modversion libcgroup)"],
    [AS_IF([test "$with_libcgroup" = yes],
       [AC_MSG_ERROR([no libcgroup (install libcgroup-dev or libcgroup-devel)])])
     libcgroup_summary="no: cgroups are made with mkdir"])],
  [no], [], [AC_MSG_ERROR([--with-libcgroup=$with_libcgroup: write auto, yes or no])])
AS_IF([test "$have_libcgroup" = yes],
  [AC_DEFINE([HAVE_LIBCGROUP], [1], [Whether cgroups of v1 are made with libcgroup.])])
AM_CONDITIONAL([HAVE_LIBCGROUP], [test "$have_libcgroup" = yes])])
