# PFR_TRY_FLAG(VARIABLE, FLAG): appends FLAG to VARIABLE if the compiler takes it
AC_DEFUN([PFR_TRY_FLAG], [
  AS_VAR_PUSHDEF([cache], [pfr_cv_flag_$2])
  AC_CACHE_CHECK([whether $CC accepts $2], [cache], [
    pfr_saved_CFLAGS=$CFLAGS
    CFLAGS="$CFLAGS -Werror $2"
    AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])], [AS_VAR_SET([cache], [yes])],
                   [AS_VAR_SET([cache], [no])])
    CFLAGS=$pfr_saved_CFLAGS
  ])
  AS_VAR_IF([cache], [yes], [$1="$$1 $2"])
  AS_VAR_POPDEF([cache])
])

AC_DEFUN([PFR_WARNINGS], [
  AC_ARG_ENABLE([werror],
    AS_HELP_STRING([--enable-werror], [treat warnings as errors]), [], [enable_werror=no])
  m4_foreach_w([flag], [-Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes
                        -Wpointer-arith -Wwrite-strings -Wformat=2 -Wundef -Wvla],
    [PFR_TRY_FLAG([PFR_CFLAGS], flag)])
  AS_IF([test "$enable_werror" = yes], [PFR_CFLAGS="$PFR_CFLAGS -Werror"])
  PFR_CFLAGS="-std=gnu11 $PFR_CFLAGS"
  AC_SUBST([PFR_CFLAGS])
])

AC_DEFUN([PFR_HARDENING], [
  AC_ARG_ENABLE([hardening],
    AS_HELP_STRING([--disable-hardening], [build without hardening flags]), [],
    [enable_hardening=yes])
  AS_IF([test "$enable_hardening" = yes], [
    m4_foreach_w([flag], [-fstack-protector-strong -fstack-clash-protection
                          -fcf-protection],
      [PFR_TRY_FLAG([PFR_CFLAGS], flag)])
    # only where the compiler optimises and nobody has chosen otherwise
    AS_CASE([" $CFLAGS $CPPFLAGS "], [*_FORTIFY_SOURCE*], [],
      [*" -O0 "*], [],
      [*" -O"*], [PFR_CFLAGS="$PFR_CFLAGS -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2"])
    PFR_TRY_FLAG([PFR_LDFLAGS], [-Wl,-z,relro,-z,now,-z,noexecstack])
    PFR_TRY_FLAG([PFR_PIE_CFLAGS], [-fPIE])
    PFR_TRY_FLAG([PFR_PIE_LDFLAGS], [-pie])
  ])
  AC_SUBST([PFR_LDFLAGS])
  AC_SUBST([PFR_PIE_CFLAGS])
  AC_SUBST([PFR_PIE_LDFLAGS])
])

AC_DEFUN([PFR_SANITIZERS], [
  AC_ARG_ENABLE([sanitizers],
    AS_HELP_STRING([--enable-sanitizers], [build with address and undefined-behaviour sanitizers]),
    [], [enable_sanitizers=no])
  AS_IF([test "$enable_sanitizers" = yes], [
    PFR_CFLAGS="$PFR_CFLAGS -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer"
    PFR_LDFLAGS="$PFR_LDFLAGS -fsanitize=address,undefined"
  ])
  AM_CONDITIONAL([SANITIZERS], [test "$enable_sanitizers" = yes])
])

AC_DEFUN([PFR_COVERAGE], [
  AC_ARG_ENABLE([coverage],
    AS_HELP_STRING([--enable-coverage], [build for gcov]), [], [enable_coverage=no])
  AS_IF([test "$enable_coverage" = yes], [
    PFR_CFLAGS="$PFR_CFLAGS --coverage -O0"
    PFR_LDFLAGS="$PFR_LDFLAGS --coverage"
  ])
])
