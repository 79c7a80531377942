# PFR_CHECK_SLURM: --with-slurm[=DIR]; sets SLURM_CFLAGS, HAVE_SLURM, slurm_summary
AC_DEFUN([PFR_CHECK_SLURM], [
  AC_ARG_WITH([slurm],
    AS_HELP_STRING([--with-slurm=DIR], [Slurm's prefix, where include/slurm/spank.h is]),
    [], [with_slurm=check])
  AC_ARG_WITH([spankdir],
    AS_HELP_STRING([--with-spankdir=DIR], [where profile_res.so is installed [LIBDIR/slurm]]),
    [SPANKDIR=$withval], [SPANKDIR='${libdir}/slurm'])
  SLURM_CFLAGS=
  have_slurm=no
  AS_CASE([$with_slurm],
    [no], [slurm_summary="left out (--without-slurm)"],
    [yes|check], [PFR_FIND_SLURM_HEADER],
    [ # a header elsewhere must not stand in for a missing one in DIR
      AS_IF([test -r "$with_slurm/include/slurm/spank.h"], [],
        [AC_MSG_ERROR([--with-slurm=$with_slurm was given, but there is no $with_slurm/include/slurm/spank.h])])
      SLURM_CFLAGS="-I$with_slurm/include"
      PFR_FIND_SLURM_HEADER
    ])
  AC_SUBST([SLURM_CFLAGS])
  AC_SUBST([SPANKDIR])
  AM_CONDITIONAL([HAVE_SLURM], [test "$have_slurm" = yes])
])

AC_DEFUN([PFR_FIND_SLURM_HEADER], [
  pfr_saved_CPPFLAGS=$CPPFLAGS
  CPPFLAGS="$CPPFLAGS $SLURM_CFLAGS"
  AC_MSG_CHECKING([for slurm/spank.h])
  AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#include <stdint.h>
                                       #include <slurm/spank.h>]], [])], [have_slurm=yes])
  AC_MSG_RESULT([$have_slurm])
  CPPFLAGS=$pfr_saved_CPPFLAGS
  AS_IF([test "$have_slurm" = yes],
          [slurm_summary="yes, into $SPANKDIR"],
        [test "$with_slurm" = check],
          [slurm_summary="left out: no slurm/spank.h (install libslurm-dev or slurm-devel)"],
        [AC_MSG_ERROR([--with-slurm was given, but slurm/spank.h was not found or does not compile])])
])
