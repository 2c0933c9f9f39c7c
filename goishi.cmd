@echo off
rem goishi COMMAND ...: makes the environment .venv beside this file on first use, then runs Goishi in it.
rem This script only finds a Python; tools\environment.py does the rest.
setlocal
set "NEW=import sys; sys.exit(sys.version_info < (3, 11))"
set PYTHON="%~dp0.venv\Scripts\python.exe"
%PYTHON% -I -S -c "%NEW%" >nul 2>nul && goto run
set PYTHON=py -3
%PYTHON% -I -S -c "%NEW%" >nul 2>nul && goto run
set PYTHON=python
%PYTHON% -I -S -c "%NEW%" >nul 2>nul && goto run
echo goishi: Goishi needs Python 3.11 or newer and found none; install it from https://www.python.org/downloads/ and call again. 1>&2
exit /b 1
:run
%PYTHON% -I "%~dp0tools\environment.py" %*
exit /b %ERRORLEVEL%
