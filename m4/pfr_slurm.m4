# PFR_CHECK_SLURM: --with-slurm[=DIR], --with-spankdir=DIR; sets SLURM_CFLAGS, SPANKDIR,
# HAVE_SLURM, slurm_summary
AC_DEFUN([PFR_CHECK_SLURM], [
  AC_ARG_WITH([slurm],
    AS_HELP_STRING([--with-slurm=DIR], [Slurm's prefix, where include/slurm/spank.h is]),
    [], [with_slurm=check])
  AC_ARG_WITH([spankdir],
    AS_HELP_STRING([--with-spankdir=DIR],
      [where profile_res.so is installed @<:@PluginDir of Slurm, else LIBDIR/slurm@:>@]),
    [], [with_spankdir=])
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
  AS_IF([test "$have_slurm" = yes], [PFR_FIND_PLUGINDIR])
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
  AS_IF([test "$have_slurm" = yes], [],
        [test "$with_slurm" = check],
          [slurm_summary="left out: no slurm/spank.h (install libslurm-dev or slurm-devel)"],
        [AC_MSG_ERROR([--with-slurm was given, but slurm/spank.h was not found or does not compile])])
])

# PFR_PLUGINDIR_OF(LIST): the first directory of LIST that holds plugins of Slurm. Each of
# its builds has select_*.so; the name of the directory is the distribution's.
AC_DEFUN([PFR_PLUGINDIR_OF], [
  for pfr_dir in $1; do
    test -z "$pfr_plugindir" || break
    for pfr_file in "$pfr_dir"/select_*.so; do
      AS_IF([test -e "$pfr_file"], [pfr_plugindir=$pfr_dir])
      break
    done
  done
])

# A plugin named without a slash in plugstack.conf is looked for in Slurm's PluginDir only.
AC_DEFUN([PFR_FIND_PLUGINDIR], [
  AC_MSG_CHECKING([for the PluginDir of Slurm])
  pfr_plugindir= pfr_from=
  AS_IF([test -n "$with_spankdir"], [SPANKDIR=$with_spankdir pfr_from=--with-spankdir], [
    AS_CASE([$with_slurm],
      [/*], [PFR_PLUGINDIR_OF(["$with_slurm"/lib*/slurm* "$with_slurm"/lib/*/slurm*])],
      [ # the running Slurm, if it answers at once
        pfr_list=`timeout 5 scontrol show config 2>/dev/null |
          $SED -n 's/^PluginDir *= *//p' | tr ':' ' '`
        PFR_PLUGINDIR_OF([$pfr_list])
        pfr_list=`$PKG_CONFIG --variable=plugindir slurm 2>/dev/null`
        PFR_PLUGINDIR_OF([$pfr_list])
        pfr_list=`command -v srun | $SED 's,/[[^/]]*/srun$,,'`
        PFR_PLUGINDIR_OF(["$pfr_list"/lib*/slurm* "$pfr_list"/lib/*/slurm*])
        PFR_PLUGINDIR_OF([/usr/lib*/slurm* /usr/lib/*/slurm*])
      ])
    AS_IF([test -n "$pfr_plugindir"], [SPANKDIR=$pfr_plugindir pfr_from="PluginDir of Slurm"],
          [SPANKDIR='${libdir}/slurm'
           pfr_from="a guess: this must be in PluginDir of slurm.conf, or give --with-spankdir=DIR"])
  ])
  AC_MSG_RESULT([$SPANKDIR])
  PFR_EXPAND([SPANKDIR], [pfr_expanded])
  slurm_summary="$pfr_expanded/profile_res.so ($pfr_from)"
])

# PFR_EXPAND(VARIABLE, RESULT): a directory variable in full
AC_DEFUN([PFR_EXPAND], [
  $2=`test "x$prefix" != xNONE || prefix=$ac_default_prefix
      test "x$exec_prefix" != xNONE || exec_prefix=$prefix
      eval "pfr_text=\"$$1\""; eval "pfr_text=\"$pfr_text\""; eval "echo \"$pfr_text\""`
])
