# PFR_CHECK_SLURM: --with-slurm[=DIR]; sets SLURM_CFLAGS, HAVE_SLURM, slurm_summary
AC_DEFUN([PFR_CHECK_SLURM], [
  AC_ARG_WITH([slurm],
    AS_HELP_STRING([--with-slurm=DIR], [Slurm's prefix, where include/slurm/spank.h is]),
    [], [with_slurm=check])
  SLURM_CFLAGS=
  have_slurm=no
  AS_CASE([$with_slurm],
    [no], [slurm_summary="left out (--without-slurm)"],
    [
      AS_CASE([$with_slurm], [yes|check], [], [SLURM_CFLAGS="-I$with_slurm/include"])
      pfr_saved_CPPFLAGS=$CPPFLAGS
      CPPFLAGS="$CPPFLAGS $SLURM_CFLAGS"
      AC_CHECK_HEADER([slurm/spank.h], [have_slurm=yes], [], [#include <stdint.h>])
      CPPFLAGS=$pfr_saved_CPPFLAGS
      AS_IF([test "$have_slurm" = yes], [slurm_summary="headers found; the plugin is not part of this version yet"],
            [test "$with_slurm" = check], [slurm_summary="left out: no slurm/spank.h (install libslurm-dev or slurm-devel)"],
            [AC_MSG_ERROR([--with-slurm was given, but slurm/spank.h was not found])])
    ])
  AC_SUBST([SLURM_CFLAGS])
  AM_CONDITIONAL([HAVE_SLURM], [test "$have_slurm" = yes])
])
